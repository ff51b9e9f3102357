/**
 * The desk of one kernel: requests over one comm, news over another.
 *
 * Two comms, since ipykernel answers on whichever subshell last sent on a comm: news from a busy
 * main thread must not move the requests there. With subshells the kernel answers while a cell
 * runs; without them it answers when the cell has ended.
 */

import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';
import { AskError, type Asked, type IAsks, type IDesk, type ISource } from './desk';

/** How far a kernel is: `absent` means that memnb isn't loaded in it. */
export type DeskState = 'connecting' | 'absent' | 'ready' | 'gone';

export const REQUESTS = 'memnb';
export const NEWS = 'memnb.news';
export const HELLO = 'memnb.hello';

const SUBSHELL_MS = 1500;
const MOST_BYTES = 64 * 1024;

interface IAnswer {
  id: number;
  value?: unknown;
  error?: { kind: string; message: string };
}

/** Where the views of the panel ask. */
export class KernelDesk implements IDesk {
  private requests: Kernel.IComm | null = null;
  private news: Kernel.IComm | null = null;
  private nonce = '';
  private n = 0;
  private state_: DeskState = 'connecting';
  private readonly open = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  private readonly watching = new Set<() => void>();
  private readonly stateChanged_ = new Signal<this, DeskState>(this);

  constructor(
    readonly kernel: Kernel.IKernelConnection,
    readonly reveal: (source: ISource) => void
  ) {
    kernel.registerCommTarget(HELLO, this.onHello);
    void this.probe();
  }

  get state(): DeskState {
    return this.state_;
  }

  get stateChanged(): ISignal<this, DeskState> {
    return this.stateChanged_;
  }

  ask<A extends Asked>(what: A, withThis: IAsks[A]['with']): Promise<IAsks[A]['value']> {
    const { requests } = this;
    const message = { id: (this.n += 1), ask: what, with: withThis, nonce: this.nonce };
    if (!requests || requests.isDisposed || this.state_ !== 'ready') {
      return Promise.reject(new AskError('NotLoaded', 'memnb isn’t loaded in this kernel.'));
    }
    if (JSON.stringify(message).length > MOST_BYTES) {
      return Promise.reject(new AskError('InvalidText', 'That is too long to be sent.'));
    }
    return new Promise((resolve, reject) => {
      this.open.set(message.id, { resolve, reject });
      requests.send(message as unknown as JSONObject);
    });
  }

  watch(changed: () => void): () => void {
    this.watching.add(changed);
    return () => this.watching.delete(changed);
  }

  /** Let go of the kernel; what waits is told so. */
  dispose(): void {
    this.drop();
    if (!this.kernel.isDisposed) {
      this.kernel.removeCommTarget(HELLO, this.onHello);
    }
    this.watching.clear();
    this.become('gone');
    Signal.clearData(this);
  }

  /** After a restart nothing is loaded until the kernel says so. */
  restarted(): void {
    this.drop();
    this.become('absent');
  }

  private onHello = (): void => {
    void this.connect();
  };

  /** After a page was reloaded memnb may be loaded already. */
  private async probe(): Promise<void> {
    try {
      await this.kernel.info;
      if (this.kernel.status === 'busy' && this.kernel.supportsSubshells) {
        await this.connect(); // asking what is there would wait for the cell
        return;
      }
      const info = await this.kernel.requestCommInfo({ target_name: HELLO });
      const { content } = info;
      if (content.status === 'ok' && Object.keys(content.comms).length) {
        await this.connect();
      } else if (this.state_ === 'connecting') {
        this.become('absent');
      }
    } catch {
      this.become('gone');
    }
  }

  private async connect(): Promise<void> {
    this.drop();
    const news = (this.news = this.kernel.createComm(NEWS));
    const requests = (this.requests = this.kernel.createComm(REQUESTS));
    news.onMsg = () => this.watching.forEach(changed => changed());
    requests.onMsg = message => this.take(message);
    requests.onClose = () => this.restarted();
    await Promise.all([onSubshell(news), onSubshell(requests)]);
    if (this.requests !== requests || this.kernel.isDisposed) {
      return;
    }
    news.open({});
    requests.open({});
  }

  private take(message: KernelMessage.ICommMsgMsg): void {
    const data = message.content.data as unknown as IAnswer & { hello?: { nonce: string } };
    if (data.hello) {
      this.nonce = data.hello.nonce;
      this.become('ready');
      return;
    }
    const waiting = this.open.get(data.id);
    if (!waiting) {
      return;
    }
    this.open.delete(data.id);
    if (data.error) {
      waiting.reject(new AskError(data.error.kind, data.error.message));
    } else {
      waiting.resolve(data.value as never);
    }
  }

  private drop(): void {
    for (const comm of [this.requests, this.news]) {
      if (comm && !comm.isDisposed) {
        comm.onClose = () => undefined;
        comm.onMsg = () => undefined;
        try {
          void comm.close();
        } catch {
          comm.dispose();
        }
      }
    }
    this.requests = this.news = null;
    for (const waiting of this.open.values()) {
      waiting.reject(new AskError('Gone', 'The kernel was restarted or closed.'));
    }
    this.open.clear();
  }

  private become(state: DeskState): void {
    if (state !== this.state_) {
      this.state_ = state;
      this.stateChanged_.emit(state);
    }
  }
}

/** Resolves once a comm has its subshell, at once where the kernel has none. */
async function onSubshell(comm: Kernel.IComm): Promise<void> {
  const { subshellStarted } = comm as { subshellStarted?: Promise<unknown> };
  if (subshellStarted) {
    await Promise.race([subshellStarted, new Promise(done => setTimeout(done, SUBSHELL_MS))]);
  }
}
