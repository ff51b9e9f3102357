/** A list of many rows of which only those in sight are elements. */

import { h } from '../dom';

export interface IRowsOptions<T> {
  label: string;
  /** The cells of a row; the list puts them into it. */
  cells: (item: T) => HTMLElement[];
  key: (item: T) => string;
  open: (item: T) => void;
}

const BEYOND = 8; // rows above and below those in sight, for smooth scrolling

/**
 * Rows of one height, drawn as they come into sight.
 *
 * Arrow keys, Page Up and Down, Home and End move; Enter opens. One tab stop, as in a native list.
 */
export class Rows<T> {
  readonly element: HTMLElement;
  private readonly canvas = h('div', { class: 'memnb-canvas', role: 'presentation' });
  private readonly sizes = new ResizeObserver(() => this.draw());
  private readonly drawn = new Map<number, HTMLElement>();
  private items: readonly T[] = [];
  private current = 0;
  private height = 0;

  constructor(private readonly options: IRowsOptions<T>) {
    this.element = h(
      'div',
      {
        class: 'memnb-rows',
        role: 'listbox',
        'aria-label': options.label,
        tabindex: 0,
        on: { keydown: event => this.onKey(event), scroll: () => this.draw() }
      },
      this.canvas
    );
    this.sizes.observe(this.element);
  }

  close(): void {
    this.sizes.disconnect();
  }

  /** Show these; the current row stays the one that it was, if it is still there. */
  set(items: readonly T[]): void {
    const before = this.items[this.current];
    this.items = items;
    const key = before === undefined ? null : this.options.key(before);
    const at = key === null ? 0 : items.findIndex(item => this.options.key(item) === key);
    this.current = Math.max(0, at);
    this.clear();
    this.draw();
  }

  private clear(): void {
    this.drawn.clear();
    this.canvas.replaceChildren();
  }

  private draw(): void {
    const { items, element, canvas, drawn } = this;
    if (!items.length) {
      canvas.style.height = '0';
      element.removeAttribute('aria-activedescendant');
      return;
    }
    const height = this.rowHeight();
    canvas.style.height = `${items.length * height}px`;
    const first = Math.max(0, Math.floor(element.scrollTop / height) - BEYOND);
    const shown = Math.ceil((element.clientHeight || 400) / height);
    const last = Math.min(items.length - 1, first + shown + 2 * BEYOND);
    for (const [at, row] of drawn) {
      if (at < first || at > last) {
        row.remove();
        drawn.delete(at);
      }
    }
    for (let at = first; at <= last; at++) {
      if (!drawn.has(at)) {
        const row = this.row(at, height);
        drawn.set(at, row);
        canvas.append(row);
      }
    }
    element.setAttribute('aria-activedescendant', this.idOf(this.current));
  }

  private row(at: number, height: number): HTMLElement {
    const item = this.items[at] as T;
    const isCurrent = at === this.current;
    return h(
      'div',
      {
        class: `memnb-row${isCurrent ? ' memnb-current' : ''}`,
        id: this.idOf(at),
        role: 'option',
        'aria-selected': String(isCurrent),
        'aria-posinset': at + 1,
        'aria-setsize': this.items.length,
        style: `transform: translateY(${at * height}px)`,
        on: {
          click: () => {
            this.move(at);
            this.options.open(item);
          }
        }
      },
      ...this.options.cells(item)
    );
  }

  /** What the style sheet makes of a row here, in a narrow panel or a wide cell. */
  private rowHeight(): number {
    const wanted = parseFloat(getComputedStyle(this.element).getPropertyValue('--memnb-row')) || 30;
    if (wanted !== this.height) {
      this.height = wanted;
      this.clear();
    }
    return wanted;
  }

  private move(to: number): void {
    const at = Math.min(this.items.length - 1, Math.max(0, to));
    for (const [one, isCurrent] of [[this.current, false], [at, true]] as const) {
      const row = this.drawn.get(one);
      row?.classList.toggle('memnb-current', isCurrent);
      row?.setAttribute('aria-selected', String(isCurrent));
    }
    this.current = at;
    const top = at * this.height;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) {
      this.element.scrollTop = top;
    } else if (top + this.height > scrollTop + clientHeight) {
      this.element.scrollTop = top + this.height - clientHeight;
    }
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / (this.height || 1)) - 1);
    const to: Record<string, number> = {
      ArrowDown: this.current + 1,
      ArrowUp: this.current - 1,
      PageDown: this.current + page,
      PageUp: this.current - page,
      Home: 0,
      End: this.items.length - 1
    };
    const at = to[event.key];
    const item = this.items[this.current];
    if (at !== undefined) {
      this.move(at);
    } else if (event.key === 'Enter' && item !== undefined) {
      this.options.open(item);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private idOf(at: number): string {
    return `${this.element.id}-${at}`;
  }
}

let made = 0;

/** An id that no other element of this page has. */
export function freshId(): string {
  made += 1;
  return `memnb-${Date.now().toString(36)}-${made}`;
}
