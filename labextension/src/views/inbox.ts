/** What waits for a person: one candidate at a time, decided with a key or a click. */

import type { IDesk, ISide, IWaiting } from '../desk';
import { button, count, empty, h, minute, withCode } from '../dom';
import { evidence } from './facts';
import { View } from './view';

/** The review inbox. */
export class InboxView extends View {
  private waiting_: IWaiting[] = [];
  private at = 0;
  private undoable: string[] = [];
  private isEditing = false;
  private readonly chosen = new Set<string>();

  constructor(desk: IDesk) {
    super(desk, 'inbox', 'Review inbox');
    this.element.tabIndex = -1;
    this.element.addEventListener('keydown', event => this.onKey(event));
  }

  protected override async read(): Promise<void> {
    const { project, rows } = await this.desk.ask('review', {});
    const current = this.waiting_[this.at]?.candidate_id;
    this.waiting_ = rows;
    const place = rows.findIndex(row => row.candidate_id === current);
    this.at = place >= 0 ? place : Math.min(this.at, Math.max(0, rows.length - 1));
    for (const id of this.chosen) {
      if (!rows.some(row => row.candidate_id === id)) {
        this.chosen.delete(id);
      }
    }
    this.heading.replaceChildren(`${project} · ${count(rows.length, 'candidate')} waiting`);
    this.draw();
  }

  private draw(): void {
    this.isEditing = false;
    this.tools.replaceChildren(
      ...(this.chosen.size
        ? [button(`Reject ${count(this.chosen.size, 'chosen candidate')}`, () => this.reject([...this.chosen]), { kind: 'memnb-danger' })]
        : []),
      ...(this.undoable.length ? [button('Undo the last', () => this.undo(), { key: 'u' })] : [])
    );
    if (!this.waiting_.length) {
      this.body.replaceChildren(
        empty(
          'Nothing waits for you.',
          'With `%memory learn review`, what you say in conversations is proposed here, and nothing is kept before you agree.',
          '`%memory diagnostics` says why something wasn’t proposed.'
        )
      );
      return;
    }
    this.body.replaceChildren(
      h('ol', { class: 'memnb-cards' }, ...this.waiting_.map((row, at) => this.card(row, at))),
      h('p', { class: 'memnb-small' }, 'Keys: j and k move, a applies, e edits, r rejects, x chooses, u undoes.')
    );
    this.focus();
  }

  private card(row: IWaiting, at: number): HTMLElement {
    const isCurrent = at === this.at;
    const choose = h('input', {
      type: 'checkbox',
      'aria-label': `Choose ${row.candidate_id}`,
      on: { change: () => this.choose(row.candidate_id) }
    });
    choose.checked = this.chosen.has(row.candidate_id);
    return h(
      'li',
      {
        class: `memnb-card${isCurrent ? ' memnb-current' : ''}`,
        tabindex: isCurrent ? 0 : -1,
        'aria-current': isCurrent ? 'true' : undefined,
        'data-id': row.candidate_id,
        on: { focusin: () => this.setCurrent(at) }
      },
      h(
        'header',
        {},
        choose,
        h('strong', { class: 'memnb-text', dir: 'auto' }, row.text),
        h('small', {}, `${row.kind} · confidence ${row.confidence.toFixed(2)} · ${row.candidate_id}`)
      ),
      ...row.why.map(why => h('p', { class: 'memnb-warning' }, ...withCode(`waits: ${why}`))),
      ...row.sources.map(source => evidence(this.desk, source)),
      row.against.length > 0 && this.sides(row),
      h(
        'div',
        { class: 'memnb-actions' },
        button('Apply', () => this.apply(row), { key: 'a', kind: 'memnb-primary' }),
        button('Edit', () => this.edit(row), { key: 'e' }),
        button('Reject', () => this.reject([row.candidate_id]), { key: 'r' })
      )
    );
  }

  /** The candidate and what it contradicts, side by side. */
  private sides(row: IWaiting): HTMLElement {
    const ours: ISide = {
      fact_id: row.candidate_id,
      revision: 0,
      text: row.text,
      recorded: row.queued,
      origin: 'proposed'
    };
    return h(
      'div',
      { class: 'memnb-sides', role: 'group', 'aria-label': 'Contradicts' },
      ...[ours, ...row.against].map(side =>
        h(
          'div',
          { class: 'memnb-side' },
          h('p', { class: 'memnb-text', dir: 'auto' }, side.text || '(text hidden)'),
          h('small', {}, `${side.fact_id} · ${side.origin} · ${minute(side.recorded)}`)
        )
      )
    );
  }

  private apply(row: IWaiting, text?: string): void {
    void this.do(async () => {
      const done = await this.desk.ask('apply', { id: row.candidate_id, ...(text === undefined ? {} : { text }) });
      this.undoable.push(row.candidate_id);
      return done.lines;
    });
  }

  private reject(ids: string[]): void {
    void this.do(async () => {
      const done = await this.desk.ask('reject', { ids });
      ids.forEach(id => this.chosen.delete(id));
      return done.lines;
    });
  }

  private undo(): void {
    const id = this.undoable.at(-1);
    if (id === undefined) {
      this.say(['Nothing was applied here yet; `%memory recent` shows what was learned.']);
      return;
    }
    void this.do(async () => {
      const done = await this.desk.ask('undo', { id });
      this.undoable.pop();
      return done.lines;
    });
  }

  private edit(row: IWaiting): void {
    const card = this.current();
    if (!card || this.isEditing) {
      return;
    }
    this.isEditing = true;
    const text = h('textarea', { rows: 2, maxlength: 512, dir: 'auto', 'aria-label': 'In your words' });
    text.value = row.text;
    card.querySelector('.memnb-actions')?.replaceChildren(
      text,
      button('Keep in these words', () => this.apply(row, text.value), { kind: 'memnb-primary' }),
      button('Cancel', () => this.draw(), { key: 'Escape', kind: 'memnb-plain' })
    );
    text.focus();
  }

  private choose(id: string): void {
    if (!this.chosen.delete(id)) {
      this.chosen.add(id);
    }
    this.draw();
  }

  private setCurrent(at: number): void {
    if (at === this.at) {
      return;
    }
    const before = this.current();
    this.at = at;
    const now = this.current();
    before?.classList.remove('memnb-current');
    before?.removeAttribute('aria-current');
    before?.setAttribute('tabindex', '-1');
    now?.classList.add('memnb-current');
    now?.setAttribute('aria-current', 'true');
    now?.setAttribute('tabindex', '0');
  }

  private current(): HTMLElement | null {
    return this.body.querySelectorAll<HTMLElement>('.memnb-card')[this.at] ?? null;
  }

  /** Keep the keys with the current candidate, if they were in this view before. */
  private focus(): void {
    const root = this.element.getRootNode() as Document | ShadowRoot;
    if (root.activeElement === null || root.activeElement === document.body || this.element.contains(root.activeElement)) {
      if (this.hadKeys) {
        this.current()?.focus();
      }
    }
  }

  private hadKeys = false;

  private onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const isTyping = target.matches('input[type=text], input[type=search], textarea, select');
    if (event.key === 'Escape' && this.isEditing) {
      this.draw();
    } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (!this.act(event.key)) {
      return;
    }
    this.hadKeys = true;
    event.preventDefault();
    event.stopPropagation();
  }

  private act(key: string): boolean {
    const row = this.waiting_[this.at];
    if (key === 'u') {
      this.undo();
      return true;
    }
    if (!row) {
      return false;
    }
    const acts: Record<string, () => void> = {
      j: () => this.go(1),
      k: () => this.go(-1),
      ArrowDown: () => this.go(1),
      ArrowUp: () => this.go(-1),
      a: () => this.apply(row),
      e: () => this.edit(row),
      r: () => this.reject([row.candidate_id]),
      x: () => this.choose(row.candidate_id)
    };
    acts[key]?.();
    return key in acts;
  }

  private go(by: number): void {
    this.setCurrent(Math.min(this.waiting_.length - 1, Math.max(0, this.at + by)));
    this.current()?.focus();
  }
}
