/** What all views have in common: a heading, a place for news, and how they follow the store. */

import { AskError, type IDesk } from '../desk';
import { h, withCode } from '../dom';

/** A view in an element; `close` lets go of it. */
export interface IView {
  readonly element: HTMLElement;
  refresh(): Promise<void>;
  close(): void;
}

/** The frame of a view: draws what its subclass reads, and says what went wrong. */
export abstract class View implements IView {
  readonly element: HTMLElement;
  protected readonly heading = h('h2', { class: 'memnb-heading' });
  protected readonly tools = h('div', { class: 'memnb-tools' });
  protected readonly body = h('div', { class: 'memnb-body' });
  private readonly news = h('div', { class: 'memnb-news', role: 'status', 'aria-live': 'polite' });
  private readonly unwatch: () => void;
  private waiting: Promise<void> | null = null;
  private isStale = false;

  constructor(
    protected readonly desk: IDesk,
    name: string,
    label: string
  ) {
    this.element = h(
      'section',
      // JupyterLab's own keys must not act on a notebook while somebody types here.
      { class: `memnb-view memnb-${name}`, 'aria-label': label, 'data-lm-suppress-shortcuts': 'true' },
      h('header', { class: 'memnb-header' }, this.heading, this.tools),
      this.news,
      this.body
    );
    this.unwatch = desk.watch(() => void this.refresh());
  }

  /** Read anew and draw; while one reading runs, others come together in the next. */
  async refresh(): Promise<void> {
    if (this.waiting) {
      this.isStale = true;
      return this.waiting;
    }
    this.waiting = this.readAgain();
    await this.waiting;
  }

  close(): void {
    this.unwatch();
    this.element.remove();
  }

  /** Read what is shown, and draw it. */
  protected abstract read(): Promise<void>;

  /** Do something, say what came of it, and read anew. */
  protected async do(what: () => Promise<string[]>): Promise<boolean> {
    try {
      this.say(await what());
    } catch (error) {
      this.say([messageOf(error)], true);
      return false;
    }
    await this.refresh();
    return true;
  }

  protected say(lines: string[], isWrong = false): void {
    this.news.classList.toggle('memnb-wrong', isWrong);
    this.news.replaceChildren(...lines.map(line => h('p', {}, ...withCode(line))));
  }

  private async readAgain(): Promise<void> {
    try {
      do {
        this.isStale = false;
        await this.read();
      } while (this.isStale);
    } catch (error) {
      this.say([messageOf(error)], true);
    } finally {
      this.waiting = null;
    }
  }
}

/** What to show of an error. */
export function messageOf(error: unknown): string {
  return error instanceof AskError || error instanceof Error ? error.message : String(error);
}
