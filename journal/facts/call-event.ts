/** The facts about llm calls: a part of `Fact`. calls.md 16. */
import type { BlobId, CallKey, EventRef, Fingerprint, OpPath, RunId, Seq, Workflow } from '../ids.js';
import type { Payload } from '../payloads.js';

/**
 * Says what a payload holds instead of the result's value. `text`: the text that the value was parsed from. `word`: a word of control on
 * its way to a loop or pipeline, `{"word":"done","value":…}`, with `form` beside `value` as here.
 */
export type ResultForm = 'text' | 'word';

/** Describes a file that a call declares to write. Its bytes are a blob; without one they could not be kept, and `reason` says why. */
export type OutputFile =
  | { readonly path: string; readonly blob: BlobId; readonly bytes: number }
  /** `absent`: the call did not write it. `secret`: the call's result is secret, so its files may not be stored in clear. */
  | { readonly path: string; readonly reason: 'absent' | 'directory' | 'unreadable' | 'too-large' | 'secret' };

/** Describes what happened to a file of a call, declared or named by an argument, when the recorded result was reused. */
export interface ReusedOutput {
  readonly path: string;
  readonly did: 'same' | 'restored' | 'kept' | 'absent';
}

/** The classes in which a call fails. calls.md 3. */
export type FailureClass =
  'rate-limit' | 'overloaded' | 'network' | 'timeout' | 'bad-reply' | 'content' | 'quota' | 'auth' | 'budget' | 'crash' | 'upstream';

/** The kind of evidence that decided the class, in the order in which it is looked at. calls.md 4. */
export type FailureEvidence = 'report' | 'clock' | 'envelope' | 'text' | 'exit' | 'error' | 'words' | 'none';

/** The usage of one attempt. A member that is not known is absent: unknown is not 0. Tokens are whole numbers. calls.md 10.1. */
export interface Usage {
  readonly model?: string;
  readonly provider?: string;
  /** All input, cached and written parts included. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  /** All output, reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars. */
  readonly costUsd?: number;
  /** Says where the cost comes from: the reply, or a table of prices. Absent in journals of before, which recorded what the reply said. */
  readonly costSource?: 'told' | 'table' | 'unknown';
  /** As `genai-prices@0.1.8` or `mlld-config`. */
  readonly priceTable?: string;
  /** The row of the table that matched. */
  readonly priceModel?: string;
  /** The price is of a model that is not quite the one that was called, or of a whole session. */
  readonly estimated?: true;
  /** The cost of the whole session in US dollars, where the reply continued one: `costUsd` is the part of this attempt. */
  readonly sessionCostUsd?: number;
  /** Several models, that of the largest cost first; then the members above are the sums. */
  readonly models?: readonly Usage[];
}

/** Declares the sum that a budget holds back for an attempt until it ends: dollars and tokens. calls.md 13.3. */
export interface Reservation {
  readonly usd?: number;
  readonly tokens?: number;
  readonly basis: 'maxCost' | 'history' | 'largest' | 'none';
  /** The budgets of the project that hold it back too. team-store.md 8. */
  readonly shared?: readonly string[];
}

/** A file that a call wrote and one of its arguments names. calls.md 22. */
export interface WrittenFile {
  /** Relative to the project's folder, with slashes. */
  readonly path: string;
  /** Absent where the content was not kept; `reason` says why. */
  readonly blob?: BlobId;
  readonly bytes: number;
  /** The permission bits. */
  readonly mode: number;
  /** `too-large`, `too-many`: beyond the limits of the configuration. `secret`: the call or the file has a secret in it. */
  readonly reason?: 'too-large' | 'too-many' | 'secret' | 'unreadable' | 'redacted';
  /** A call inside this one wrote it, and that call restores it: this one is executed again where it is missing. */
  readonly inner?: true;
}

/** The result of a call, with all that is known of it. */
export type CallResult = {
  readonly key: CallKey;
  readonly op: OpPath;
  readonly result: Payload;
  readonly form?: ResultForm;
  // The following members restore on a reused result what its data, arguments and function do not say.
  /** A list of `ResultMetadata`. */
  readonly notes?: Payload;
  /** Labels beyond those of arguments and function, which its body met or a guard added. */
  readonly labels?: readonly string[];
  /** Source markers beyond those of arguments and function. */
  readonly sources?: readonly string[];
  /** Labels of arguments or function that a guard removed. */
  readonly removed?: readonly string[];
  /** The time of the attempt, in milliseconds. */
  readonly elapsedMs: number;
  /** The usage of the attempt; absent when nothing is known. */
  readonly usage?: Usage;
  /** The body did nothing but make calls, or was not executed (`received`): the attempt cost nothing itself. */
  readonly onlyCalls?: true;
  /** The usage of all attempts added, and of executions that a guard requested, where the last attempt does not have all of it. */
  readonly callUsage?: Usage;
  /** The cost of the calls inside this one, in US dollars, each result once; absent where none is known. It is part of no usage. */
  readonly insideUsd?: number;
  /** The part of `insideUsd` that was not paid for this call: results that were reused inside had cost it. Absent: none. */
  readonly insideReusedUsd?: number;
  /** The part of `insideUsd` that is in `callUsage`, too: executions that a guard requested. Absent: none. */
  readonly repeatedUsd?: number;
  /** Calls inside that failed and without whose results the body went on, but for accepted failures. Absent: none. */
  readonly unresolvedInside?: number;
  /** The adapter that read the reply. `inner`: the result is the one in the reply, and not the reply. */
  readonly reply?: { readonly adapter: string; readonly inner?: true };
  /** The session of the model's program, which a later call may continue. */
  readonly session?: string;
  readonly try?: number;
  /** The result was cut at its limit of tokens. */
  readonly truncated?: true;
  /** Files that the call wrote and its arguments name. */
  readonly files?: readonly WrittenFile[];
  /** Declared output files as they were when the call had ended, in the order of their declaration. */
  readonly outputs?: readonly OutputFile[];
};

export type CallFact =
  /** The kernel has it before the body of an attempt starts: a kill can't hide an attempt that may have cost money. */
  | {
      readonly type: 'call.started';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly fn: string;
      readonly site?: string;
      readonly declared?: string;
      readonly args: Payload;
      /** First argument as text, at most 256 UTF-16 units; only where `args` isn't inline, and when it is not secret. */
      readonly preview?: string;
      readonly fingerprint: Fingerprint;
      /** Present from 2 on: a retry by the script has a call key of its own. */
      readonly attempt?: number;
      /** Present from 2 on: the attempts of one call have the same key and the same place. */
      readonly try?: number;
      /** The attempts that share a rate limit. */
      readonly lane?: string;
      /** Present with a budget. */
      readonly reserved?: Reservation;
      /** The time that the attempt waited for its lane or the budget, in milliseconds. */
      readonly waitedMs?: number;
      /** A result was recorded but not reused, because these declared output files are not what the call had written. */
      readonly outdated?: readonly string[];
      /** A result was recorded but not reused, because it does not fit this option of the function as it is now. */
      readonly unfit?: 'schema' | 'reply';
      /** A result was recorded but not reused, because these files that its call wrote are missing, and their content was not kept. */
      readonly gone?: readonly string[];
      /** In the store of a team: the result of this call that was recorded then, and that the new one replaces. */
      readonly refused?: EventRef;
      /** The `result.received` whose result the guards judge now: the body is not executed, and the attempt costs nothing. */
      readonly received?: EventRef;
      /** With `received`: what was done about declared output files, in the order of their declaration, and files that arguments name. */
      readonly outputs?: readonly ReusedOutput[];
      readonly files?: readonly ReusedOutput[];
      /** The event of another run that began the attempt: of a sealed run, or of the run of a worker. Nothing began here. */
      readonly begun?: EventRef;
      /** With `begun`: the name of the worker that executed the call for this run, and its machine. */
      readonly worker?: string;
      readonly workerHost?: string;
    }
  /** On disk before the script sees the result. */
  | (CallResult & {
      readonly type: 'call.completed';
      /** The reason why the result is used once and never reused (a command that ended with another status than 0). */
      readonly unusable?: string;
      /** The class in which a call failed whose function passes on what was printed (`onFailure: "value"`). */
      readonly class?: FailureClass;
      /** The exit code of the command that is its body, where it is not 0: the call failed, and its result is unusable. */
      readonly exitCode?: number;
      /** A guard denied what it does, and its own `denied` branch returned the value, which is unusable too. */
      readonly denied?: true;
    })
  /**
   * On disk before the guards behind a call judge its result, because they may take time, make calls, or be stopped: it is paid for. The
   * end of the call follows, in this run or in a later one, whose guards judge the same result.
   */
  | (CallResult & {
      readonly type: 'result.received';
      /** The digest of the inputs of the body, where guards before it had replaced some. */
      readonly sent?: string;
    })
  /** In the store of a team: the run waits for a worker. A `call.reused` follows, or the call's own events. */
  | {
      readonly type: 'call.offered';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly fn: string;
      readonly site?: string;
      readonly declared?: string;
      /** The lane that the function names: workers without slots for it don't take the call. */
      readonly lane?: string;
    }
  /**
   * In the store of a team: the body of the attempt that had started here did not begin, because another run had the call when the start
   * was recorded. A `call.reused` follows, or another start.
   */
  | {
      readonly type: 'call.withdrawn';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly try?: number;
      /** The run that has the call. Absent: this run had to stop. */
      readonly to?: RunId;
    }
  /** In the store of a team: another run's result of the same call was durable first, and is used instead of the one of this run. */
  | {
      readonly type: 'call.superseded';
      readonly key: CallKey;
      readonly op: OpPath;
      /** The `call.completed` of this run. */
      readonly of: Seq;
      /** The result that is used. */
      readonly by: EventRef;
    }
  | {
      readonly type: 'call.reused';
      readonly key: CallKey;
      readonly op: OpPath;
      readonly fn: string;
      readonly site?: string;
      readonly declared?: string;
      readonly from: EventRef & { readonly workflow?: Workflow };
      /** The name of the worker that executed the call for this run, and its machine. */
      readonly worker?: string;
      readonly workerHost?: string;
      /**
       * The cost of all attempts of the call at the worker, and of those that were executed inside it there, in US dollars, where it is
       * known. The worker's run counts it.
       */
      readonly workerUsd?: number;
      /** First argument as text, at most 256 UTF-16 units; only for a forked result, and when it is not secret. */
      readonly preview?: string;
      readonly fingerprint?: Fingerprint;
      /** The cost of all attempts of the recorded call and of the calls inside it, in US dollars, where it is known. */
      readonly savedUsd?: number;
      /** As in `call.completed`, of the result; only where an earlier run of the workflow recorded it. */
      readonly unresolvedInside?: number;
      /** Declared output files, in the order of their declaration. */
      readonly outputs?: readonly ReusedOutput[];
      /** Files that its call wrote and its arguments name. */
      readonly files?: readonly ReusedOutput[];
    }
  /** An attempt failed; with `retryInMs` another one follows, else the call failed. Without a `call.started` it was not executed. */
  | {
      readonly type: 'call.failed';
      readonly key: CallKey;
      readonly op: OpPath;
      /** Present where no `call.started` says it: the call was not executed. */
      readonly fn?: string;
      readonly message: string;
      /** The code of an error that has one. */
      readonly code?: string;
      readonly denied?: true;
      readonly elapsedMs: number;
      /** Absent in journals of before, and for a call that was denied or interrupted. */
      readonly class?: FailureClass;
      readonly evidence?: FailureEvidence;
      readonly try?: number;
      /** Another attempt follows after this time, or once the lane opens. */
      readonly retryInMs?: number;
      /** The wait that the provider requests. */
      readonly retryAfterMs?: number;
      /** When an allowance is there again: ISO 8601, UTC. */
      readonly resetsAt?: string;
      /** The HTTP status. */
      readonly status?: number;
      readonly exitCode?: number;
      readonly usage?: Usage;
      /** The body did nothing but make calls: the attempt cost nothing itself, because their cost is theirs. */
      readonly onlyCalls?: true;
      /** As in `call.completed`; these four are on the last attempt alone. */
      readonly callUsage?: Usage;
      readonly insideUsd?: number;
      readonly insideReusedUsd?: number;
      readonly repeatedUsd?: number;
      /** As in `call.reused`. */
      readonly workerUsd?: number;
      readonly reply?: { readonly adapter: string };
      readonly session?: string;
      /** The rules of the schema that the result broke: the next attempt is told them. */
      readonly problem?: readonly string[];
      /** It waited for a call inside it, or for one that a guard made, when the run ended: the call has not failed. */
      readonly waited?: true;
      /** The function says what to do about it (`onFailure`), so that the run counts it as accepted. */
      readonly accepted?: true;
      /** Class `upstream`: the calls whose failures its arguments have in them. */
      readonly upstream?: readonly OpPath[];
      /** The beginning of the reply, at most 2,000 UTF-16 units. Absent with a secret in the call. */
      readonly excerpt?: Payload;
    }
  // ---- lane, dispatch
  /** The limits of a lane changed; the last event of each lane is its state. */
  | {
      readonly type: 'lane.changed';
      readonly lane: string;
      /** Attempts in flight. */
      readonly limit: number;
      /** The most attempts in flight that are known to be accepted. */
      readonly ceiling?: number;
      /** The least time between two starts, in milliseconds. */
      readonly gapMs?: number;
      /** ISO 8601, UTC. */
      readonly heldUntil?: string;
      readonly why: 'began' | 'grew' | 'rejected' | 'held' | 'told' | 'restored';
    }
  /** No attempt is started any more: in this lane, or without one in none. */
  | {
      readonly type: 'dispatch.stopped';
      readonly class: StopClass;
      readonly lane?: string;
      /** The call that stopped it. */
      readonly op?: OpPath;
      /** ISO 8601, UTC. */
      readonly resetsAt?: string;
      readonly message: string;
    }
  /** A stopped lane starts attempts again, because its allowance was waited for. */
  | { readonly type: 'dispatch.resumed'; readonly lane: string }
  // ---- result
  /** A person marked the result of a call as bad: it is not reused until the call is executed again. */
  | {
      readonly type: 'result.rejected';
      readonly key: CallKey;
      readonly from: EventRef & { readonly workflow?: Workflow };
      readonly op: OpPath;
      readonly reason?: string;
    }
  /** The newest rejection of this result is taken back. */
  | {
      readonly type: 'result.restored';
      readonly key: CallKey;
      readonly from: EventRef & { readonly workflow?: Workflow };
      readonly op: OpPath;
    };

/** The reason for which no attempt is started. `journal`, `store`: nothing can be recorded. */
export type StopClass = 'quota' | 'auth' | 'budget' | 'stalled' | 'journal' | 'store';
