/** What each run of learning came to, and why nothing was learned; never any content. */

import type { IDesk, IRun } from '../desk';
import { count, empty, h, minute, withCode } from '../dom';
import { bars } from './charts';
import { View } from './view';

/** The diagnostics of learning. */
export class DiagnosticsView extends View {
  constructor(desk: IDesk) {
    super(desk, 'diagnostics', 'Learning diagnostics');
  }

  protected override async read(): Promise<void> {
    const { mode, rows, meanings } = await this.desk.ask('diagnostics', {});
    this.heading.replaceChildren(`${count(rows.length, 'run')} of learning · learning ${mode}`);
    if (!rows.length) {
      this.body.replaceChildren(
        empty(
          'No run of learning yet.',
          mode === 'off' ? '`%memory learn review` begins it.' : '`%memory populate` looks through this session now.'
        )
      );
      return;
    }
    const outcomes = tally(rows.map(row => ({ [row.outcome]: 1 })));
    const reasons = tally(rows.map(row => row.reasons));
    const asBars = (counts: Map<string, number>, kind: (name: string) => string) =>
      [...counts].map(([name, n]) => ({
        label: name.replaceAll('_', ' '),
        pieces: [[kind(name), n]] as Array<[string, number]>,
        note: meanings[name] ?? ''
      }));
    this.body.replaceChildren(
      bars('What runs came to', asBars(outcomes, name => OUTCOME[name] ?? 'mild')),
      ...(reasons.size ? [bars('Why candidates were dropped, or why nothing was kept', asBars(reasons, () => 'mild'))] : []),
      table(rows)
    );
  }
}

const OUTCOME: Record<string, string> = {
  learned: 'good',
  proposed: 'info',
  failed: 'wrong',
  stale: 'warn',
  rejected: 'warn',
  no_candidates: 'mild'
};

function tally(counts: Array<Record<string, number>>): Map<string, number> {
  const sums = new Map<string, number>();
  for (const one of counts) {
    for (const [name, n] of Object.entries(one)) {
      sums.set(name, (sums.get(name) ?? 0) + n);
    }
  }
  return new Map([...sums].sort((a, b) => b[1] - a[1]));
}

function table(rows: IRun[]): HTMLElement {
  const names = ['when', 'began by', 'outcome', 'records', 'why not', 'model'];
  return h(
    'div',
    { class: 'memnb-scroll', tabindex: 0, role: 'region', 'aria-label': 'Runs' },
    h(
      'table',
      { class: 'memnb-table' },
      h('thead', {}, h('tr', {}, ...names.map(name => h('th', { scope: 'col' }, name)))),
      h(
        'tbody',
        {},
        ...rows.map(row =>
          h(
            'tr',
            {},
            h('td', {}, minute(row.at)),
            h('td', {}, row.trigger.replaceAll('_', ' ')),
            h('td', { class: `memnb-state memnb-${OUTCOME[row.outcome] ?? 'mild'}` }, row.outcome.replaceAll('_', ' ')),
            h('td', { class: 'memnb-number' }, String(row.n_supplied)),
            h('td', {}, ...withCode(Object.entries(row.reasons).map(([name, n]) => `${name.replaceAll('_', ' ')} ${n}`).join(', '))),
            h('td', {}, row.model || 'rules')
          )
        )
      )
    )
  );
}
