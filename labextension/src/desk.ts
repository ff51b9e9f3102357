/**
 * What the views ask of a kernel, and how they are told that something changed.
 *
 * A view knows nothing of comms or widgets: it is handed a desk. Every answer is data; nothing in it
 * ever becomes markup.
 */

/** Something went wrong in a way that a person can read: one line, what was wrong and what to do. */
export class AskError extends Error {
  constructor(
    readonly kind: string,
    message: string
  ) {
    super(message);
  }
}

/** The columns of a table, and its rows as lists of cells: a tenth of the bytes of keyed rows. */
export interface ITable {
  columns: string[];
  rows: unknown[][];
}

export interface IFact {
  fact_id: string;
  revision: number;
  kind: string;
  learned: string;
  status: string;
  in_prompt: boolean;
  reason: string;
  text: string;
}

export interface ISource {
  where: string;
  at: string;
  via: string;
  notebook: string | null;
  cell_id: string | null;
  cell_count: number | null;
  message: string;
  start: number;
  end: number;
}

export interface IRevision {
  revision: number;
  text: string;
  status: string;
  basis: string | null;
  origin: string;
  recorded_at: string;
  when: string;
  sources: ISource[];
}

export interface IHistory {
  fact_id: string;
  kind: string;
  in_prompt: boolean;
  reason: string;
  revisions: IRevision[];
  holds: string[];
  dependents: string[];
}

export interface ISide {
  fact_id: string;
  revision: number;
  text: string;
  recorded: string;
  origin: string;
}

export interface IWaiting {
  candidate_id: string;
  kind: string;
  confidence: number;
  why: string[];
  text: string;
  queued: string;
  sources: ISource[];
  against: ISide[];
}

export interface IRun {
  at: string;
  trigger: string;
  outcome: string;
  n_supplied: number;
  reasons: Record<string, number>;
  model: string;
}

export interface IUsage {
  purpose: string;
  model: string;
  n_requests: number;
  n_unknown: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  n_unknown_cost: number;
}

export interface IStatus {
  project: string;
  n_facts: number;
  n_in_prompt: number;
  n_waiting: number;
  generation: number;
  enabled: boolean;
  learning: string;
  mode: string;
  model: string;
  session_id: string | null;
  context_tokens: number | null;
  window_tokens: number | null;
  n_compactions: number;
  version: string;
}

/** What is asked, what is said with it, and what comes back. */
export interface IAsks {
  status: { with: object; value: IStatus };
  facts: { with: { all: boolean }; value: { project: string; left_out: number } & ITable };
  fact: { with: { id: string }; value: IHistory };
  correct: { with: { id: string; revision: number; text: string }; value: ISaid };
  expire: { with: { id: string; date: string }; value: ISaid };
  confirm: { with: { id: string }; value: ISaid };
  forget: { with: { id: string; token?: string }; value: IForget };
  review: { with: object; value: { project: string; rows: IWaiting[] } };
  apply: { with: { id: string; text?: string }; value: ISaid };
  reject: { with: { ids: string[] }; value: ISaid };
  undo: { with: { id: string }; value: ISaid };
  diagnostics: { with: object; value: { mode: string; rows: IRun[]; meanings: Record<string, string> } };
  usage: { with: { all: boolean }; value: { scope: string; rows: IUsage[] } };
  why: { with: object; value: { lines: string[]; parts: Array<[string, number, number]> } };
}

/** What was done, in the words of the command that does the same. */
export interface ISaid {
  lines: string[];
  id?: string;
}

/** First what forgetting would do, with a token that does it once; then what was done. */
export interface IForget extends ISaid {
  token?: string;
}

export type Asked = keyof IAsks;

/** Where views ask. */
export interface IDesk {
  /** Ask; rejects with an `AskError` that can be shown. */
  ask<A extends Asked>(what: A, withThis: IAsks[A]['with']): Promise<IAsks[A]['value']>;
  /** Call `changed` whenever what is stored may have changed; gives what stops that. */
  watch(changed: () => void): () => void;
  /** Go to the cell that something was said in; absent where there is no notebook to go to. */
  readonly reveal?: (source: ISource) => void;
}

/** The rows of a table with their cells under the names of the columns. */
export function keyed<T>(table: ITable): T[] {
  return table.rows.map(
    row => Object.fromEntries(table.columns.map((name, at) => [name, row[at]])) as T
  );
}
