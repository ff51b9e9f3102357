/** What the last request carried, by part, and what was left out. */

import type { IDesk } from '../desk';
import { empty, h, withCode } from '../dom';
import { bars } from './charts';
import { View } from './view';

/** Why the last answer was what it was, as far as memory goes. */
export class WhyView extends View {
  constructor(desk: IDesk) {
    super(desk, 'why', 'What the last request carried');
  }

  protected override async read(): Promise<void> {
    const { lines, parts } = await this.desk.ask('why', {});
    const [head = 'Nothing was asked yet', ...rest] = lines;
    this.heading.replaceChildren(head);
    if (!lines.length) {
      this.body.replaceChildren(empty('Nothing was asked yet.', '`%%agent` asks; here you see what it was told.'));
      return;
    }
    this.body.replaceChildren(
      bars(
        'Bytes by part, against their budget',
        parts.map(([label, n, budget]) => ({
          label,
          pieces: [
            [n > 0.8 * budget ? 'warn' : 'info', n],
            ['rest', Math.max(0, budget - n)]
          ],
          note: `${n.toLocaleString('en')} of ${budget.toLocaleString('en')}`
        }))
      ),
      ...rest.map(line => h('p', { class: 'memnb-line', dir: 'auto' }, ...withCode(line)))
    );
  }
}
