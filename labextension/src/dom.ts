/** Elements made of text and elements, never of markup. */

export type Child = Node | string | null | undefined | false;

export interface IAttributes {
  class?: string;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
  [name: string]: unknown;
}

/** An element with attributes and children; text stays text, whatever it says. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: IAttributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value as object)) {
        element.addEventListener(event, listener as EventListener);
      }
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

/** A button that says what it does, and a key that does the same where there is one. */
export function button(
  label: string,
  does: () => void,
  { key, kind = '' }: { key?: string; kind?: string } = {}
): HTMLButtonElement {
  return h(
    'button',
    {
      type: 'button',
      class: `memnb-button ${kind}`.trim(),
      'aria-keyshortcuts': key,
      title: key ? `${label} (${key})` : undefined,
      on: { click: does }
    },
    label
  );
}

/** Text with one span of it marked. */
export function marked(text: string, start: number, end: number): HTMLElement {
  // Python counts code points, strings here count UTF-16 units.
  const points = Array.from(text);
  return h(
    'blockquote',
    { class: 'memnb-said', dir: 'auto' },
    points.slice(0, start).join(''),
    end > start && h('mark', {}, points.slice(start, end).join('')),
    points.slice(Math.max(start, end)).join('')
  );
}

/** What stands where there is nothing yet: what would be here, and how to get it. */
export function empty(title: string, ...hints: string[]): HTMLElement {
  return h(
    'div',
    { class: 'memnb-empty' },
    h('p', { class: 'memnb-empty-title' }, title),
    ...hints.map(hint => h('p', {}, ...withCode(hint)))
  );
}

/** Text in which `this` is set as code. */
export function withCode(text: string): Child[] {
  return text.split('`').map((piece, at) => (at % 2 ? h('code', {}, piece) : piece));
}

/** A UTC stamp as the reader's own day and minute. */
export function minute(stamp: string): string {
  const at = new Date(stamp.length === 10 ? `${stamp}T00:00:00Z` : stamp);
  return Number.isNaN(at.getTime())
    ? stamp
    : at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `1 fact`, `2 facts`. */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
}
