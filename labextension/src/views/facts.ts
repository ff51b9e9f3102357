/** All facts: searched, filtered and sorted here; one opens with its history and evidence. */

import { keyed, type IDesk, type IFact, type IHistory, type IRevision, type ISaid, type ISource } from '../desk';
import { button, count, empty, h, marked, minute, withCode, type Child } from '../dom';
import { Rows, freshId } from './rows';
import { View, messageOf } from './view';

type Order = 'newest' | 'oldest' | 'text' | 'kind' | 'status';

const ORDERS: Record<Order, string> = {
  newest: 'newest first',
  oldest: 'oldest first',
  text: 'by text',
  kind: 'by kind',
  status: 'by status'
};

/** The facts view. */
export class FactsView extends View {
  private facts: IFact[] = [];
  private leftOut = 0;
  private project = '';
  private opened: string | null = null;
  /** Whether somebody is about to change the opened fact: what they typed must not be drawn over. */
  private isActing = false;
  private readonly rows: Rows<IFact>;
  private readonly search = h('input', {
    type: 'search',
    class: 'memnb-search',
    placeholder: 'Search facts',
    'aria-label': 'Search facts',
    on: { input: () => this.filter() }
  });
  private readonly kind = this.select('Kind', { '': 'every kind' }, () => this.filter());
  private readonly state = this.select(
    'Status',
    { '': 'every status', in: 'in the prompt', out: 'not in the prompt', held: 'evidence doesn’t hold' },
    () => this.filter()
  );
  private readonly since = h('input', {
    type: 'date',
    'aria-label': 'Learned on or after',
    title: 'Learned on or after',
    on: { change: () => this.filter() }
  });
  private readonly order = this.select('Order', ORDERS, () => this.filter());
  private readonly everything = h('input', {
    type: 'checkbox',
    on: { change: () => void this.refresh() }
  });
  private readonly detail = h('article', { class: 'memnb-detail', hidden: true });
  private readonly list = h('div', { class: 'memnb-list' });

  constructor(desk: IDesk) {
    super(desk, 'facts', 'Facts');
    this.rows = new Rows<IFact>({
      label: 'Facts',
      key: fact => fact.fact_id,
      cells: fact => this.cells(fact),
      open: fact => void this.open(fact.fact_id)
    });
    this.rows.element.id = freshId();
    this.tools.append(
      this.search,
      this.kind,
      this.state,
      this.since,
      this.order,
      h('label', { class: 'memnb-check' }, this.everything, 'also what is over')
    );
    this.body.append(this.list, this.detail);
    this.element.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this.opened) {
        this.closeDetail();
        event.stopPropagation();
      }
    });
  }

  override close(): void {
    this.rows.close();
    super.close();
  }

  protected override async read(): Promise<void> {
    const answer = await this.desk.ask('facts', { all: this.everything.checked });
    this.facts = keyed<IFact>(answer);
    this.leftOut = answer.left_out;
    this.project = answer.project;
    this.offerKinds();
    this.filter();
    if (this.opened) {
      if (this.facts.some(fact => fact.fact_id === this.opened)) {
        await (this.isActing ? null : this.open(this.opened));
      } else {
        this.closeDetail();
      }
    }
  }

  private filter(): void {
    const words = this.search.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.facts.filter(fact => this.fits(fact, words)).sort(this.comparing());
    const sent = this.facts.filter(fact => fact.in_prompt).length;
    const some = shown.length === this.facts.length ? '' : `${shown.length.toLocaleString('en')} of `;
    this.heading.replaceChildren(
      `${this.project} · ${some}${count(this.facts.length, 'fact')} · ${sent} in the prompt`
    );
    if (shown.length) {
      this.list.replaceChildren(this.rows.element);
      this.rows.set(shown);
    } else {
      this.list.replaceChildren(this.nothing());
    }
  }

  private nothing(): HTMLElement {
    if (this.facts.length) {
      return empty('No fact fits.', 'Fewer words, or another filter, show more.');
    }
    if (this.leftOut) {
      return empty(`${count(this.leftOut, 'fact')} that no longer hold.`, 'Tick “also what is over”.');
    }
    return empty(
      'Nothing is remembered yet.',
      '`%memory remember We report revenue in EUR cents` keeps a fact.',
      '`%memory learn review` lets memnb propose what you say in conversations.'
    );
  }

  private fits(fact: IFact, words: string[]): boolean {
    const text = `${fact.text} ${fact.fact_id} ${fact.kind}`.toLocaleLowerCase();
    const state = this.state.value;
    return (
      words.every(word => text.includes(word)) &&
      (!this.kind.value || fact.kind === this.kind.value) &&
      (!this.since.value || fact.learned >= this.since.value) &&
      (!state ||
        (state === 'in' && fact.in_prompt) ||
        (state === 'out' && !fact.in_prompt) ||
        (state === 'held' && fact.status !== 'valid'))
    );
  }

  private comparing(): (a: IFact, b: IFact) => number {
    const order = this.order.value as Order;
    const newest = (a: IFact, b: IFact): number => this.place(a) - this.place(b);
    if (order === 'oldest') {
      return (a, b) => newest(b, a);
    }
    if (order === 'newest') {
      return newest;
    }
    return (a, b) => a[order].localeCompare(b[order]) || newest(a, b);
  }

  private readonly places = new Map<string, number>();

  /** The facts come newest first; within a day only their order tells. */
  private place(fact: IFact): number {
    if (this.places.size !== this.facts.length) {
      this.places.clear();
      this.facts.forEach((one, at) => this.places.set(one.fact_id, at));
    }
    return this.places.get(fact.fact_id) ?? 0;
  }

  private cells(fact: IFact): HTMLElement[] {
    const state = fact.status !== 'valid' ? fact.status : fact.in_prompt ? 'in prompt' : fact.reason;
    const kind = fact.status !== 'valid' ? 'wrong' : fact.in_prompt ? 'good' : 'mild';
    return [
      h('span', { class: 'memnb-text', dir: 'auto' }, fact.text || '(text hidden)'),
      h('span', { class: 'memnb-kind' }, fact.kind),
      h('span', { class: `memnb-state memnb-${kind}`, title: fact.reason }, state),
      h('span', { class: 'memnb-day' }, fact.learned),
      h('span', { class: 'memnb-id' }, fact.fact_id)
    ];
  }

  private async open(id: string): Promise<void> {
    this.opened = id;
    this.isActing = false;
    try {
      const history = await this.desk.ask('fact', { id });
      if (this.opened === id) {
        this.detail.replaceChildren(...this.history(history));
        this.detail.hidden = false;
        this.body.classList.add('memnb-open');
      }
    } catch (error) {
      this.closeDetail();
      throw error;
    }
  }

  private closeDetail(): void {
    this.opened = null;
    this.isActing = false;
    this.detail.hidden = true;
    this.body.classList.remove('memnb-open');
    this.rows.element.focus();
  }

  private history(fact: IHistory): HTMLElement[] {
    const current = fact.revisions[0];
    const place = fact.in_prompt ? 'in the prompt' : `not in the prompt: ${fact.reason}`;
    return [
      h(
        'header',
        {},
        h('h3', {}, fact.fact_id, h('small', {}, ` ${fact.kind} · ${place}`)),
        button('Close', () => this.closeDetail(), { key: 'Escape', kind: 'memnb-plain' })
      ),
      ...fact.holds.map(hold => h('p', { class: 'memnb-warning' }, `held: ${hold}`)),
      ...(current ? [this.actions(fact, current)] : []),
      ...fact.revisions.map(revision => this.revision(revision)),
      ...(fact.dependents.length
        ? [h('p', { class: 'memnb-small' }, `derived from it: ${fact.dependents.join(', ')}`)]
        : [])
    ];
  }

  private revision(revision: IRevision): HTMLElement {
    return h(
      'section',
      { class: 'memnb-revision' },
      h(
        'h4',
        {},
        `revision ${revision.revision} · ${revision.when} · ${revision.status}`,
        h('small', {}, ` ${revision.basis ?? 'no basis'} by ${revision.origin}, ${minute(revision.recorded_at)}`)
      ),
      h('p', { class: 'memnb-text', dir: 'auto' }, revision.text || '(text hidden)'),
      ...revision.sources.map(source => evidence(this.desk, source))
    );
  }

  private actions(fact: IHistory, current: IRevision): HTMLElement {
    const place = h('div', { class: 'memnb-actions' });
    const offer = (...children: Child[]): void => {
      this.isActing = true;
      place.replaceChildren(...children.filter((child): child is Node => child instanceof Node));
    };
    const act = (what: () => Promise<ISaid>): void =>
      void this.do(async () => {
        const { lines } = await what();
        this.isActing = false;
        return lines;
      });
    const start = (): void => {
      offer(
        button('Correct…', () => correct()),
        button('Expire…', () => expire()),
        fact.holds.length > 0 && button('It is still so', () => act(() => this.desk.ask('confirm', { id: fact.fact_id }))),
        button('Forget…', () => void forget(), { kind: 'memnb-danger' })
      );
      this.isActing = false;
    };
    const correct = (): void => {
      const text = h('textarea', { rows: 2, 'aria-label': 'The right wording', maxlength: 512, dir: 'auto' });
      text.value = current.text;
      offer(
        text,
        button('Keep this wording', () =>
          act(() => this.desk.ask('correct', { id: fact.fact_id, revision: current.revision, text: text.value }))
        ),
        button('Cancel', start, { kind: 'memnb-plain' })
      );
      text.focus();
    };
    const expire = (): void => {
      const day = h('input', { type: 'date', 'aria-label': 'It holds until' });
      day.valueAsDate = new Date();
      offer(
        h('label', {}, 'holds until ', day),
        button('Expire', () => act(() => this.desk.ask('expire', { id: fact.fact_id, date: day.value }))),
        button('Cancel', start, { kind: 'memnb-plain' })
      );
      day.focus();
    };
    const forget = async (): Promise<void> => {
      this.isActing = true; // already while the kernel looks at what it would do
      let would;
      try {
        would = await this.desk.ask('forget', { id: fact.fact_id });
      } catch (error) {
        this.say([messageOf(error)], true);
        start();
        return;
      }
      const { lines, token = '' } = would;
      const sure = button('Forget it for good', () => act(() => this.desk.ask('forget', { id: fact.fact_id, token })), {
        kind: 'memnb-danger'
      });
      offer(
        h('div', { class: 'memnb-receipt' }, ...lines.map(line => h('p', {}, ...withCode(line)))),
        sure,
        button('Cancel', start, { kind: 'memnb-plain' })
      );
      sure.focus();
    };
    start();
    return place;
  }

  private offerKinds(): void {
    const before = this.kind.value;
    const kinds = [...new Set(this.facts.map(fact => fact.kind))].sort();
    this.kind.replaceChildren(
      h('option', { value: '' }, 'every kind'),
      ...kinds.map(kind => h('option', { value: kind }, kind))
    );
    this.kind.value = kinds.includes(before) ? before : '';
  }

  private select(label: string, options: Record<string, string>, change: () => void): HTMLSelectElement {
    return h(
      'select',
      { 'aria-label': label, on: { change } },
      ...Object.entries(options).map(([value, text]) => h('option', { value }, text))
    );
  }
}

/** Where something was said: the whole message with the quote marked, and how to get there. */
export function evidence(desk: IDesk, source: ISource): HTMLElement {
  const cell = source.cell_count === null ? '' : ` · cell [${source.cell_count}]`;
  const notebook = source.notebook ? ` · ${source.notebook}` : '';
  const { reveal } = desk;
  return h(
    'figure',
    { class: 'memnb-evidence' },
    marked(source.message, source.start, source.end),
    h(
      'figcaption',
      {},
      `${source.where} · ${minute(source.at)} · via ${source.via}${notebook}${cell}`,
      reveal && source.cell_id !== null && button('Show the cell', () => reveal(source), { kind: 'memnb-plain' })
    )
  );
}
