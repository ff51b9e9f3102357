/** The JupyterLab extension: the panel, its commands, a status-bar item, and a word when something waits. */

import { ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { LabIcon } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type { IStatus } from './desk';
import { count, h } from './dom';
import { MemoryPanel } from './panel';
import type { ViewName } from './views';

const PLUGIN = 'memnb:plugin';

const ICON = new LabIcon({
  name: 'memnb:memory',
  // A notebook page with a receipt's edge and one remembered line.
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><path class="jp-icon3" fill="#616161" d="M3 1h10v14l-1.7-1.2L9.7 15 8 13.8 6.3 15l-1.6-1.2L3 15V1zm2 3v1.2h6V4H5zm0 3v1.2h6V7H5zm0 3v1.2h3.5V10H5z"/></svg>'
});

const COMMANDS: Array<[id: string, label: string, tab: ViewName]> = [
  ['memnb:facts', 'Show What Is Remembered', 'facts'],
  ['memnb:review', 'Review What Waits', 'review'],
  ['memnb:why', 'Show What the Last Request Carried', 'why'],
  ['memnb:diagnostics', 'Show Why Nothing Was Learned', 'diagnostics'],
  ['memnb:usage', 'Show Tokens and Costs', 'usage']
];

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: 'Agent memory with receipts: what is remembered, where it comes from, what waits.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ICommandPalette, ILayoutRestorer, ISettingRegistry, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    statusBar: IStatusBar | null
  ) => {
    const panel = new MemoryPanel(tracker);
    panel.title.icon = ICON;
    app.shell.add(panel, 'right', { rank: 900, type: 'memnb' });
    restorer?.add(panel, panel.id);
    for (const [id, label, tab] of COMMANDS) {
      app.commands.addCommand(id, {
        label,
        execute: () => {
          app.shell.activateById(panel.id);
          panel.show_(tab);
        }
      });
      palette?.addItem({ command: id, category: 'Memory' });
    }
    app.commands.addCommand('memnb:load', {
      label: 'Load memnb in This Notebook',
      isEnabled: () => tracker.currentWidget !== null,
      execute: () => panel.load()
    });
    palette?.addItem({ command: 'memnb:load', category: 'Memory' });
    if (statusBar) {
      showInStatusBar(app, statusBar, panel);
    }
    void tellWhatWaits(app, settings, panel);
  }
};

/** Facts, what waits, and whether anything is learned. */
function showInStatusBar(app: JupyterFrontEnd, statusBar: IStatusBar, panel: MemoryPanel): void {
  const item = h('button', {
    type: 'button',
    class: 'memnb-status-item',
    title: 'Agent memory of this notebook’s project',
    on: { click: () => void app.commands.execute('memnb:facts') }
  });
  const widget = new Widget({ node: item });
  const changed = new Signal<Widget, void>(widget);
  let now: IStatus | null = null;
  panel.statusChanged.connect((_, status) => {
    now = status;
    const waiting = status?.n_waiting ? ` · ${status.n_waiting} waiting` : '';
    item.textContent = status ? `${count(status.n_facts, 'fact')}${waiting} · learning ${status.learning}` : '';
    changed.emit();
  });
  statusBar.registerStatusItem('memnb:status', {
    item: widget,
    align: 'left',
    isActive: () => now !== null,
    activeStateChanged: changed
  });
}

/** Say once that something new waits; the settings can have it quiet. */
async function tellWhatWaits(app: JupyterFrontEnd, registry: ISettingRegistry | null, panel: MemoryPanel): Promise<void> {
  let isWanted = true;
  try {
    const settings = await registry?.load(PLUGIN);
    const read = (): void => {
      isWanted = settings?.get('notify').composite !== false;
    };
    settings?.changed.connect(read);
    read();
  } catch {
    // Without settings the default holds.
  }
  let known = 0;
  panel.statusChanged.connect((_, status) => {
    const waiting = status?.n_waiting ?? 0;
    if (isWanted && waiting > known) {
      Notification.info(`${count(waiting, 'candidate')} for memory ${waiting === 1 ? 'waits' : 'wait'} for your review.`, {
        autoClose: 6000,
        actions: [{ label: 'Review', callback: () => void app.commands.execute('memnb:review') }]
      });
    }
    known = waiting;
  });
}

export default plugin;
