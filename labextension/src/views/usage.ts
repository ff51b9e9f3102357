/** Tokens and costs by purpose; what is unknown is counted as unknown, never as nothing. */

import type { IDesk, IUsage } from '../desk';
import { count, empty, h } from '../dom';
import { bars } from './charts';
import { View } from './view';

/** What models consumed. */
export class UsageView extends View {
  private readonly everything = h('input', { type: 'checkbox', on: { change: () => void this.refresh() } });

  constructor(desk: IDesk) {
    super(desk, 'usage', 'Usage');
    this.tools.append(h('label', { class: 'memnb-check' }, this.everything, 'all sessions'));
  }

  protected override async read(): Promise<void> {
    const { scope, rows } = await this.desk.ask('usage', { all: this.everything.checked });
    const sum = (of: (row: IUsage) => number): number => rows.reduce((all, row) => all + of(row), 0);
    this.heading.replaceChildren(`${count(sum(row => row.n_requests), 'request')} to models · ${scope}`);
    if (!rows.length) {
      this.body.replaceChildren(empty('No model was asked yet.', '`%%agent` asks one.'));
      return;
    }
    const unknown = sum(row => row.n_unknown);
    this.body.replaceChildren(
      bars(
        'Tokens in and out',
        rows.map(row => ({
          label: `${row.purpose} · ${row.model || 'rules'}`,
          pieces: [
            ['info', row.input_tokens],
            ['good', row.output_tokens]
          ],
          note: `${row.input_tokens.toLocaleString('en')} in, ${row.output_tokens.toLocaleString('en')} out, ${cost(row)}`
        }))
      ),
      h(
        'p',
        { class: 'memnb-legend' },
        h('span', { class: 'memnb-piece memnb-info', 'aria-hidden': 'true' }),
        'in ',
        h('span', { class: 'memnb-piece memnb-good', 'aria-hidden': 'true' }),
        'out'
      ),
      h(
        'p',
        { class: unknown ? 'memnb-warning' : 'memnb-small' },
        unknown
          ? `${count(unknown, 'request')} didn’t say what ${unknown === 1 ? 'it' : 'they'} consumed: the sums are of the others.`
          : 'Every request said what it consumed.'
      )
    );
  }
}

function cost(row: IUsage): string {
  if (row.n_unknown_cost === row.n_requests) {
    return 'cost unknown';
  }
  return `$${row.cost_usd.toFixed(4)}${row.n_unknown_cost ? ' and unknown' : ''}`;
}
