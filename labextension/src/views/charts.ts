/** Bars made of elements, with their numbers beside them: nothing is told by length alone. */

import { h } from '../dom';

export interface IBar {
  label: string;
  /** What the bar is long for, by the class of its piece. */
  pieces: Array<[kind: string, n: number]>;
  note?: string;
}

/** Bars under each other, as long as the longest allows. */
export function bars(label: string, rows: IBar[]): HTMLElement {
  const sum = (row: IBar): number => row.pieces.reduce((all, [, n]) => all + n, 0);
  const most = Math.max(1, ...rows.map(sum));
  return h(
    'table',
    { class: 'memnb-bars' },
    h('caption', {}, label),
    h(
      'tbody',
      {},
      ...rows.map(row =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, row.label),
          h(
            'td',
            { class: 'memnb-bar-cell' },
            h(
              'div',
              { class: 'memnb-bar', 'aria-hidden': 'true' },
              ...row.pieces
                .filter(([, n]) => n > 0)
                .map(([kind, n]) => h('span', { class: `memnb-piece memnb-${kind}`, style: `width: ${(100 * n) / most}%` }))
            )
          ),
          h('td', { class: 'memnb-number' }, sum(row).toLocaleString('en')),
          h('td', { class: 'memnb-small' }, row.note ?? '')
        )
      )
    )
  );
}
