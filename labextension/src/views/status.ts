/** This session: where memory stands, and how full the window of the model is. */

import type { IDesk } from '../desk';
import { count, h } from '../dom';
import { View } from './view';

/** The session's card. */
export class StatusView extends View {
  constructor(desk: IDesk) {
    super(desk, 'status', 'This session');
  }

  protected override async read(): Promise<void> {
    const now = await this.desk.ask('status', {});
    this.heading.replaceChildren(`${now.project} · ${count(now.n_facts, 'fact')}`);
    const rows: Array<[string, string | HTMLElement]> = [
      ['memory', now.enabled ? `on, ${now.n_in_prompt} of ${now.n_facts} facts in the prompt` : 'off in this kernel'],
      ['learning', now.learning],
      ['waiting', count(now.n_waiting, 'candidate')],
      ['model', now.model],
      ['may do', now.mode],
      ['session', now.session_id ?? 'none yet'],
      ['compactions', String(now.n_compactions)]
    ];
    if (now.context_tokens !== null && now.window_tokens) {
      rows.push(['context', gauge(now.context_tokens, now.window_tokens)]);
    }
    this.body.replaceChildren(
      h('dl', { class: 'memnb-card' }, ...rows.flatMap(([name, value]) => [h('dt', {}, name), h('dd', { dir: 'auto' }, value)]))
    );
  }
}

function gauge(n: number, of: number): HTMLElement {
  const text = `${n.toLocaleString('en')} of ${of.toLocaleString('en')} tokens`;
  return h('span', {}, h('meter', { min: 0, max: of, high: 0.8 * of, value: n, 'aria-label': text }), ` ${text}`);
}
