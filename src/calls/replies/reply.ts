/** A reply is all that came back from one attempt; an adapter reads a result or a failure from it. calls.md 7. */
import type { Json } from '../../../journal/event.js';
import type { Failure } from '../failure.js';

export interface Reply {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A member that is not known is absent: unknown is not 0. Tokens are whole numbers. calls.md 10.1. */
export interface ReportedUsage {
  readonly model?: string;
  readonly provider?: string;
  /** All input, cached and written parts included. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  /** All output, reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** The number of requests that the tokens are the sum of, where there may be several: prices depend on the size of each. Not recorded. */
  readonly requests?: number;
  /** US dollars, as the reply says. */
  readonly costUsd?: number;
  /** The cost is not quite that of this reply. */
  readonly estimated?: true;
  /** The cost of the whole session, where the reply continues one: `costUsd` is the part of this reply. */
  readonly sessionCostUsd?: number;
  /** Several models, that of the largest cost first; then the members above are the sums. */
  readonly models?: readonly ReportedUsage[];
}

/** The contents of an envelope, as an adapter finds them. Without `text`, `data` and `failure` the envelope holds no result. */
export interface Reading {
  readonly text?: string;
  /** A structured result, which counts more than the text. */
  readonly data?: Json;
  readonly failure?: Omit<Failure, 'evidence'>;
  readonly usage?: ReportedUsage;
  readonly session?: string;
  /** The result was cut at its limit of tokens. */
  readonly truncated?: true;
  /** A stream that ended before its last event. */
  readonly cut?: true;
}

/** The parsed output of a program: one JSON object, or one in each line. */
export interface Envelope {
  readonly form: 'object' | 'lines';
  readonly objects: readonly JsonObject[];
}

export type JsonObject = { readonly [name: string]: Json };

export interface Adapter {
  readonly name: AdapterName;
  /** True when the envelope has, strictly, the shape of this adapter's program or provider. */
  fits(envelope: Envelope): boolean;
  read(envelope: Envelope, nowMs: number): Reading;
}

export type AdapterName = 'claude' | 'codex' | 'gemini' | 'opencode' | 'openai' | 'anthropic';
