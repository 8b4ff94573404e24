/** The parts of a call that only its execution and its lookup need. checkpoint-resume.md 4 to 6. */
import type { CallKey } from '../../../journal/ids.js';
import type { CallOptions } from '../../calls/options.js';
import type { Value } from '../../values/value.js';
import type { Awaitable } from '../awaitable.js';
import type { Outcome } from '../completion.js';
import type { Definition } from '../definitions/definition.js';
import type { Denial } from '../denial.js';
import type { Frame } from '../frame.js';
import type { CallRequest } from './call-key.js';
import type { DescribedCall, NotOffered } from './offered-call.js';
import type { OpNode } from '../op-node.js';
import type { CallFacts, LlmFacts, Operation } from '../operation.js';
import type { Body } from '../ports.js';

/** The operation of a function call, with what `perform` needs to execute it. */
export interface CallOperation extends Operation {
  readonly call?: CallFacts & { readonly onDenied?: DeniedBranch | undefined };
  readonly llm?: LlmCall | undefined;
  /** The inputs that its body gets, where guards elsewhere replaced some. */
  readonly allowed?: readonly Value[] | undefined;
}

/** The function's own `denied` branch; `inputs` are those that the before-hooks left. */
export type DeniedBranch = (frame: Frame, inputs: readonly Value[], denial: Denial) => Promise<Outcome>;

/** A call that carries the label `llm` directly: it has a key, is looked up and recorded. */
export interface LlmCall extends LlmFacts {
  /** The name of the function. */
  readonly fn: string;
  /** The language of a body that is code. */
  readonly language?: string | undefined;
  /** Forms the request from the inputs as the before-hooks left them. */
  request(inputs: readonly Value[]): Awaitable<FormedCall>;
  /** The request without the arguments that a wrapper passes on: their evaluation may have effects, and happens once. */
  ownRequest?(inputs: readonly Value[]): Awaitable<FormedCall>;
  /** Functions among the inputs are a part of it. `op` is the call itself: what it takes to find the definition happens inside. */
  definition(inputs: readonly Value[], op: OpNode): Awaitable<Definition>;
  /** Finding its definition loads a module, whose guards hold for this call already. */
  readonly loadsGuards?: boolean | undefined;
  /** Returns true when the body reads `@mx.call.problem`, and needs no note about it. */
  mentionsProblem?(): boolean;
  /** Returns the options of the function about its calls; parameters may stand in them. */
  options(inputs: readonly Value[]): Awaitable<CallOptions>;
  /** The folder that its command will run in, where it is another than the project's and known before. */
  readonly folder?: ((inputs: readonly Value[]) => Promise<string | undefined>) | undefined;
  /** Describes the call for a worker; absent where only the run itself can execute it. */
  describe?(inputs: readonly Value[]): Promise<DescribedCall | NotOffered>;
  /** Absolute paths of the files that the call declares to write. */
  readonly writes?: ((inputs: readonly Value[]) => Promise<readonly string[]>) | undefined;
}

export interface FormedCall {
  readonly request: CallRequest;
  /** Replaces the operation's own body where forming the request evaluated a part of it. */
  readonly body?: Body;
  /** A value beyond the inputs went into the request, and is secret. */
  readonly hasSecret?: boolean;
  /** The key under which this very operation was recorded before a crash, where that counts more than the request. */
  readonly recordedAs?: CallKey | undefined;
}
