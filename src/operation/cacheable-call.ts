/** An llm call on its way through the cache stage, and the little that the stage needs of the run around. */
import type { CallKey } from '../../journal/ids.js';
import type { Attempt } from '../calls/attempt.js';
import type { Outcome } from '../runtime/completion.js';
import type { CallSight, Context } from '../runtime/context.js';
import type { Definition } from '../runtime/definitions/definition.js';
import type { RunState } from '../runtime/frame.js';
import type { CallRequest } from '../runtime/calls/call-key.js';
import type { OpNode } from '../runtime/op-node.js';
import type { LlmCall } from '../runtime/calls/llm-call.js';
import type { Operation } from '../runtime/operation.js';
import type { Body, Interceptors } from '../runtime/ports.js';
import type { Settings } from '../runtime/settings.js';
import type { Value } from '../values/value.js';
import type { EffectRequest } from '../world/world.js';

/** The ports of the cache stage. Every run has them; a test passes a literal. */
export interface CacheRun extends Pick<
  RunState,
  | 'cache'
  | 'calls'
  | 'deniedInside'
  | 'repeatedInside'
  | 'trace'
  | 'failures'
  | 'monotonicMs'
  | 'recorder'
  | 'replayed'
  | 'secrets'
  | 'unrecordedResults'
  | 'usage'
  | 'warn'
  | 'world'
> {
  readonly interceptors: Pick<Interceptors, 'active' | 'holding' | 'neededBehind'>;
  readonly settings: Pick<Settings, 'projectRoot' | 'workingDirectory'>;
}

export interface CacheableCall {
  readonly run: CacheRun;
  /** Present where hooks or guards look at the call. */
  readonly sight?: CallSight | undefined;
  readonly op: OpNode;
  /** `inputs` are those that the before-hooks left. */
  readonly operation: Operation;
  readonly llm: LlmCall;
  /** All that happens around the call is secret. */
  readonly secret: boolean;
  readonly suppress: Context['suppress'];
  /** The loop around. */
  readonly loop: Context['for'];
  /** The attempt in whose body the call is made. */
  readonly around?: Attempt | undefined;
  /**
   * The attempt that counts what the call comes to: `around`, also where a hook or a guard makes the call. For an execution that a guard
   * requested it is that of the first one.
   */
  readonly countsIn?: Attempt | undefined;
  /** Runs the before-guards; absent where none holds. Called ahead of an offer: they decide once. */
  readonly guardsBefore?: ((lookup: Lookup) => Promise<readonly Value[]>) | undefined;
  /** Says whether guards judge the result of the call; absent where none looks at it. */
  readonly isJudged?: (() => boolean) | undefined;
  /** Puts a declared output file back, as an effect of the call. */
  readonly restore: (file: EffectRequest<'file.restore'>) => Promise<unknown>;
}

/** The result of a lookup, as `@mx.checkpoint` shows it. */
export type Lookup = NonNullable<Context['checkpoint']>;

/**
 * Runs guards and body of a call that was not found. `body` replaces the operation's own where forming the key evaluated a part of it;
 * `around` wraps the body inside the guards.
 */
export type Execute = (lookup: Lookup, body: Body | undefined, around: (body: Body) => Body) => Promise<Outcome>;

/** A result, executed or reused, or the marker of a failure. */
export interface Found {
  readonly result: Outcome;
  readonly lookup: Lookup;
  /** The call failed, and its function wants a marker for that. */
  readonly isFailed?: true;
}

/** All that decides which recorded results a call may reuse. */
export interface CallIdentity {
  /** The key that the call is recorded under: a keyed digest where a secret is in the request (CACHE-5). */
  readonly key: CallKey;
  readonly plainKey: CallKey;
  readonly hasSecret: boolean;
  readonly definition: Definition;
  readonly request: CallRequest;
}

/** Members of the events of a call that say where it is written. */
export function sitesOf({ call }: Operation): { site?: string; declared?: string } {
  if (!call) return {};
  const site = call.site();
  const declared = call.declaredAt();
  return site === undefined ? { declared } : { site, declared };
}
