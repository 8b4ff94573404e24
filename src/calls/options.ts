/** Declares the options of a function about its calls (`with { … }`), and the settings of a run for all of them. calls.md 11. */
import type { FailureClass } from './failure.js';
import type { BudgetLimits } from './budget/limits.js';
import type { Cost } from './budget/budget.js';
import type { OwnPrice } from './price/own-prices.js';
import type { AdapterName } from './replies/reply.js';
import type { ResultSchema } from './schema/compile-schema.js';
import type { Value } from '../values/value.js';

/** Further attempts: the same number for each class that has some, or a number for single classes. calls.md 6.1. */
export type Retries = number | { readonly [C in FailureClass]?: number };

/** A function of the script that reads replies. calls.md 7.7. */
export interface ReplyFunction {
  /** With its at sign. */
  readonly name: `@${string}`;
  /** Returns what the function returns about a reply. */
  read(reply: Value, place: ReplyPlace): Promise<Value>;
}

/** The call whose reply a function reads. */
export interface ReplyPlace {
  /** The operation of the call. */
  readonly op: object;
  readonly deadline?: object | undefined;
  /** True outside of an attempt, where no recorded end of the call says what the function returned. */
  readonly isRecorded: boolean;
  /** Warns of something that is ignored; `topic` names it, so that it is warned of once. */
  readonly warn: (topic: string, message: string) => void;
}

export interface CallOptions {
  /** The adapter that reads the reply; the value is then the result in it. */
  readonly reply?: AdapterName | 'text' | ReplyFunction;
  /** The result must fit it; a bad reply is then followed by further attempts. */
  readonly schema?: ResultSchema;
  /** If false, a further attempt is not told why the result before was refused. */
  readonly repair?: boolean;
  readonly retries?: Retries;
  /** The limit of one attempt. */
  readonly timeoutMs?: number;
  readonly lane?: string;
  /** For lane and price where nothing else names it. */
  readonly model?: string;
  /** The most that one attempt is expected to cost. */
  readonly maxCost?: Cost;
  readonly onFailure?: 'error' | 'marker' | 'value';
  /** The function is executed with failures in its arguments. */
  readonly partial?: boolean;
  /** Says if files that a call wrote and its arguments name are kept with its result. */
  readonly files?: 'keep' | 'ignore';
}

export const NO_CALL_OPTIONS: CallOptions = {};

/** The limits of one lane, from the configuration. calls.md 12.1. */
export interface LaneSettings {
  readonly max?: number;
  readonly start?: number;
}

/** The most that is kept of the files of one call. calls.md 22.1. */
export interface FileLimits {
  readonly count: number;
  /** The most for one file. */
  readonly eachBytes: number;
  readonly totalBytes: number;
}

/** The settings of a run, each the first that says something: command line, header, configuration, default. calls.md 11.4. */
export interface CallSettings {
  /** The command line gave these: they override the options of functions. */
  readonly forced?: { readonly retries?: number; readonly timeoutMs?: number };
  /** The configuration has these: they hold where a function says nothing. */
  readonly retries?: Retries;
  readonly timeoutMs?: number;
  /** Attempts in flight, over all lanes. */
  readonly concurrency?: number;
  readonly budget?: BudgetLimits;
  readonly budgetStrict?: boolean;
  readonly allowFailures?: boolean;
  readonly waitQuotaMs?: number;
  readonly backoff: { readonly firstMs: number; readonly maxMs: number };
  /** By pattern: a name, or a beginning that ends with `*`. The first that fits counts. */
  readonly lanes: readonly (readonly [pattern: string, settings: LaneSettings])[];
  readonly stallAfterMs: number;
  readonly prices: { readonly [name: string]: OwnPrice };
  /** Files are kept and restored only for functions that say so, if `keep` is false. */
  readonly files: FileLimits & { readonly keep: boolean };
}

const MIB = 1024 * 1024;

export const DEFAULT_CALL_SETTINGS: CallSettings = {
  backoff: { firstMs: 1000, maxMs: 60_000 },
  lanes: [],
  stallAfterMs: 600_000,
  prices: {},
  files: { keep: true, count: 20, eachBytes: 10 * MIB, totalBytes: 50 * MIB },
};
