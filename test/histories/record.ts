/**
 * The plain model of what a script has recorded: lists, searched from end to end. It shares no code with `replay/`; it is the text of
 * the language reference, sections 2 to 10 of the chapter on checkpoints, written down as simply as it can be.
 */
import { createHash } from 'node:crypto';
import type { Literal } from './script.js';

export interface Question {
  readonly fn: string;
  readonly args: readonly Literal[];
  readonly via?: { readonly fn: string; readonly args: readonly Literal[] } | undefined;
  /** From 2. */
  readonly attempt?: number | undefined;
}

/** Section 6, for arguments that are no objects. */
export function keyOf({ fn, args, via, attempt }: Question): string {
  const members = { fn, args, ...(via && { via }), ...(attempt !== undefined && { attempt }) };
  return `sha256:${createHash('sha256').update(JSON.stringify(members)).digest('hex')}`;
}

/** A place in a run: the calls of ordinary functions around it and the items of the loops around it, by number. */
export interface Where {
  readonly calls: readonly number[];
  readonly items: readonly { readonly loop: number; readonly index: number }[];
}

/** The record of a run, in order of time. */
export type Trace =
  /** A call of an ordinary function. */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly fn: string;
      readonly declared: string;
      readonly site: string;
      readonly where: Where;
    }
  | { readonly kind: 'item'; readonly loop: number; readonly index: number; readonly text: string; readonly where: Where }
  /** An llm invocation that was executed or reused. */
  | {
      readonly kind: 'ask';
      readonly fn: string;
      readonly declared: string;
      readonly site: string;
      readonly key: string;
      /** First argument as text. */
      readonly text: string;
      readonly where: Where;
    }
  | { readonly kind: 'used'; readonly key: string }
  | { readonly kind: 'checkpoint'; readonly name: string };

export type Asked = Trace & { readonly kind: 'ask' };

export interface Result {
  readonly key: string;
  readonly value: string;
}

/** The record of one script. */
export interface Record {
  /** Recorded runs, oldest first. */
  runs: Trace[][];
  /** The place in `runs` of the first one since `--fresh`. */
  freshFrom: number;
  /** The usable results. */
  results: Result[];
  /** Keys whose forked results are refused until `--fresh`. */
  refused: Set<string>;
}

export function emptyRecord(): Record {
  return { runs: [], freshFrom: 0, results: [], refused: new Set() };
}

export function usableFor({ results }: Record, key: string): Result | undefined {
  return results.find((result) => result.key === key);
}

/** A later execution of a call replaces its earlier result. */
export function keep(record: Record, result: Result): void {
  record.results = record.results.filter(({ key }) => key !== result.key);
  record.results.push(result);
}

export const isAsk = (trace: Trace): trace is Asked => trace.kind === 'ask';

/** The numbers of the calls of an ordinary function in one run. */
export function callsOf(run: readonly Trace[], fn: string): Set<number> {
  return new Set(run.flatMap((trace) => (trace.kind === 'call' && trace.fn === fn ? [trace.id] : [])));
}

export function isInside({ where }: Asked, calls: ReadonlySet<number>): boolean {
  return where.calls.some((call) => calls.has(call));
}
