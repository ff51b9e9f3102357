/** The side panel: the views over the kernel of the active notebook. */

import type { ISessionContext } from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type { ISource, IStatus } from './desk';
import { button, count, empty, h } from './dom';
import { KernelDesk } from './kernel';
import { VIEWS, type ViewName } from './views';
import type { View } from './views/view';

const TABS: Array<[ViewName, string]> = [
  ['facts', 'Facts'],
  ['review', 'Inbox'],
  ['status', 'Session'],
  ['why', 'Why'],
  ['diagnostics', 'Learning'],
  ['usage', 'Usage']
];

const FLASH_MS = 1600;
const LANGUAGE = 'python';

/** Follows the active notebook; a desk for each kernel, dropped with it. */
export class MemoryPanel extends Widget {
  private notebook: NotebookPanel | null = null;
  private desk: KernelDesk | null = null;
  private view: View | null = null;
  private tab: ViewName = 'facts';
  private unwatch: () => void = () => undefined;
  private readonly statusChanged_ = new Signal<this, IStatus | null>(this);
  private readonly tabs = h('div', { class: 'memnb-tabs', role: 'tablist', 'aria-label': 'Memory' });
  private readonly content = h('div', { class: 'memnb-content', role: 'tabpanel', tabindex: -1 });

  constructor(private readonly tracker: INotebookTracker) {
    super();
    this.id = 'memnb-panel';
    this.addClass('memnb-panel');
    this.title.caption = 'Agent memory';
    this.node.append(this.tabs, this.content);
    tracker.currentChanged.connect(this.follow, this);
    this.follow();
  }

  /** Where memory stands in the active kernel; null where there is none. */
  get statusChanged(): ISignal<this, IStatus | null> {
    return this.statusChanged_;
  }

  /** Show one of the views. */
  show_(tab: ViewName): void {
    this.tab = tab;
    this.draw();
  }

  /** Put `%load_ext memnb` into the notebook's first cell and run it. */
  async load(): Promise<void> {
    const panel = this.notebook;
    if (!panel?.model || panel.model.readOnly) {
      return;
    }
    panel.content.activeCellIndex = 0;
    NotebookActions.insertAbove(panel.content);
    panel.content.activeCell?.model.sharedModel.setSource('%load_ext memnb');
    await NotebookActions.run(panel.content, panel.sessionContext);
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this.leave();
    Signal.clearData(this);
    super.dispose();
  }

  private follow(): void {
    const notebook = this.tracker.currentWidget;
    if (notebook === this.notebook) {
      return;
    }
    this.leave();
    this.notebook = notebook;
    notebook?.sessionContext.kernelChanged.connect(this.reconnect, this);
    notebook?.sessionContext.statusChanged.connect(this.onStatus, this);
    this.reconnect();
  }

  private leave(): void {
    this.notebook?.sessionContext.kernelChanged.disconnect(this.reconnect, this);
    this.notebook?.sessionContext.statusChanged.disconnect(this.onStatus, this);
    this.notebook = null;
    this.drop();
  }

  private onStatus(_: ISessionContext, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this.desk?.restarted();
    }
  }

  private reconnect(): void {
    this.drop();
    const kernel = this.notebook?.sessionContext.session?.kernel;
    if (kernel) {
      const desk = (this.desk = new KernelDesk(kernel, source => this.reveal(source)));
      desk.stateChanged.connect(() => this.arrive());
    }
    this.draw();
  }

  private drop(): void {
    this.unwatch();
    this.view?.close();
    this.view = null;
    this.desk?.dispose();
    this.desk = null;
    this.statusChanged_.emit(null);
  }

  private arrive(): void {
    this.unwatch();
    const { desk } = this;
    if (desk?.state === 'ready') {
      this.unwatch = desk.watch(() => void this.readStatus());
      void this.readStatus();
    } else {
      this.statusChanged_.emit(null);
    }
    this.draw();
  }

  private async readStatus(): Promise<void> {
    try {
      const status = await this.desk?.ask('status', {});
      this.statusChanged_.emit(status ?? null);
      this.mark(status?.n_waiting ?? 0);
    } catch {
      this.statusChanged_.emit(null);
    }
  }

  private draw(): void {
    this.view?.close();
    this.view = null;
    const { desk } = this;
    this.tabs.hidden = desk?.state !== 'ready';
    if (desk?.state !== 'ready') {
      this.content.replaceChildren(this.absence());
      return;
    }
    this.mark(0);
    const view = (this.view = new VIEWS[this.tab](desk));
    this.content.replaceChildren(view.element);
    this.content.setAttribute('aria-labelledby', `memnb-tab-${this.tab}`);
    void view.refresh();
    void this.readStatus();
  }

  /** What to say where there is no memory to show. */
  private absence(): HTMLElement {
    const { desk, notebook } = this;
    if (!notebook) {
      return empty('Open a notebook to see what its agent remembers.');
    }
    const language = notebook.model?.getMetadata('kernelspec')?.language ?? LANGUAGE;
    if (desk && language !== LANGUAGE) {
      return empty('Memory is for Python kernels.');
    }
    if (!desk || desk.state === 'gone') {
      return empty('This notebook has no kernel.', 'Start one, then load memnb in it.');
    }
    if (desk.state === 'connecting') {
      return empty('Asking the kernel…', 'An older kernel answers when its cell has ended.');
    }
    const message = empty('memnb isn’t loaded in this kernel.', '`%load_ext memnb` loads it.');
    message.append(button('Load memnb here', () => void this.load(), { kind: 'memnb-primary' }));
    return message;
  }

  private mark(waiting: number): void {
    this.tabs.replaceChildren(
      ...TABS.map(([name, label]) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: `memnb-tab-${name}`,
            class: 'memnb-tab',
            'aria-selected': String(name === this.tab),
            tabindex: name === this.tab ? 0 : -1,
            on: { click: () => this.show_(name), keydown: event => this.onTabKey(event) }
          },
          label,
          name === 'review' && waiting > 0 && h('span', { class: 'memnb-badge', 'aria-label': count(waiting, 'candidate') }, String(waiting))
        )
      )
    );
  }

  private onTabKey(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) {
      return;
    }
    const at = TABS.findIndex(([name]) => name === this.tab);
    const next = TABS[(at + by + TABS.length) % TABS.length];
    if (next) {
      this.show_(next[0]);
      this.tabs.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
    }
    event.preventDefault();
  }

  /** Scroll to the cell that something was said in, and flash it. */
  private reveal(source: ISource): void {
    const panel = this.tracker.find(
      one => !!source.notebook && (one.context.path === source.notebook || one.context.path.endsWith(`/${source.notebook}`) || source.notebook.endsWith(one.context.path))
    ) ?? this.notebook;
    const at = panel?.content.widgets.findIndex(cell => cell.model.id === source.cell_id) ?? -1;
    if (!panel || at < 0) {
      return;
    }
    panel.content.activeCellIndex = at;
    void panel.content.scrollToItem(at, 'center').then(() => {
      const { node } = panel.content.widgets[at] ?? {};
      node?.classList.add('memnb-flash');
      setTimeout(() => node?.classList.remove('memnb-flash'), FLASH_MS);
    });
  }
}
