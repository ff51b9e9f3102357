/**
 * The views as notebook widgets, for anywidget.
 *
 * The widget's state holds the name of its view and nothing of what is stored: everything else
 * comes as messages, so a saved notebook keeps none of it.
 */

import { AskError, type Asked, type IAsks, type IDesk } from './desk';
import { VIEWS, type ViewName } from './views';

interface IModel {
  get(name: string): unknown;
  send(content: object): void;
  on(event: string, callback: (content: IMessage) => void): void;
  off(event: string, callback: (content: IMessage) => void): void;
}

interface IMessage {
  id?: number;
  value?: unknown;
  error?: { kind: string; message: string };
  changed?: boolean;
}

const PATIENCE_MS = 600_000; // a running cell may take its time, and answers come after it

class WidgetDesk implements IDesk {
  private n = 0;
  private readonly open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private readonly watching = new Set<() => void>();
  private readonly onMessage = (content: IMessage): void => this.take(content);

  constructor(private readonly model: IModel) {
    model.on('msg:custom', this.onMessage);
  }

  ask<A extends Asked>(what: A, withThis: IAsks[A]['with']): Promise<IAsks[A]['value']> {
    const id = (this.n += 1);
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      setTimeout(() => {
        if (this.open.delete(id)) {
          reject(new AskError('NoAnswer', 'The kernel didn’t answer; run the cell again.'));
        }
      }, PATIENCE_MS);
      this.model.send({ id, ask: what, with: withThis, nonce: this.model.get('nonce') });
    });
  }

  watch(changed: () => void): () => void {
    this.watching.add(changed);
    return () => this.watching.delete(changed);
  }

  close(): void {
    this.model.off('msg:custom', this.onMessage);
    this.watching.clear();
    this.open.clear();
  }

  private take(content: IMessage): void {
    if (content.changed) {
      this.watching.forEach(changed => changed());
      return;
    }
    const waiting = this.open.get(content.id ?? 0);
    if (!waiting) {
      return;
    }
    this.open.delete(content.id ?? 0);
    if (content.error) {
      waiting.reject(new AskError(content.error.kind, content.error.message));
    } else {
      waiting.resolve(content.value as never);
    }
  }
}

function render({ model, el }: { model: IModel; el: HTMLElement }): () => void {
  const desk = new WidgetDesk(model);
  const view = new VIEWS[model.get('view') as ViewName](desk);
  el.classList.add('memnb-host');
  el.append(view.element);
  void view.refresh();
  return () => {
    view.close();
    desk.close();
  };
}

export default { render };
