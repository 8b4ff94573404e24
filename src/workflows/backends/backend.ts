/** The contract between agent calls and what answers them. workflows-js.md 9. */
import type { Json } from '../../../journal/event.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Frame } from '../../runtime/frame.js';
import type { AgentRequest } from '../run/agent-options.js';
import type { TakenSample } from '../run/ports.js';

/** One attempt of an agent call. */
export interface AgentAttempt {
  readonly request: AgentRequest;
  /** The prompt, with what must be said about a refused reply. */
  readonly prompt: string;
  /** The option of the call, else that of the run. */
  readonly model: string | undefined;
  /** The text of the definition of the agent's type, if there is one. */
  readonly definition: string | undefined;
  readonly taken: TakenSample;
  /** From 1. */
  readonly attempt: number;
  /** The folder that the agent works in. */
  readonly directory: string;
}

/** A text, or the data that a program says is its structured result. */
export type AgentAnswer = { readonly text: string } | { readonly data: Json };

export interface AgentBackend {
  /** As it was written: `claude`, `cmd:node agent.mjs`. A part of the fingerprint. */
  readonly name: string;
  /** The program, which decides the lane of the calls; absent where nothing is known. */
  readonly program?: string;
  /** The schema goes to an option of the program. Otherwise it is said in the prompt. */
  readonly takesSchema?: true;
  /** Adds to the definition of a call what it would be executed with beside the name. `frame` is inside the call. */
  complete?(own: Definition, frame: Frame): Promise<Definition>;
  /** Throws the failure of the attempt. */
  ask(frame: Frame, attempt: AgentAttempt): Promise<AgentAnswer>;
}
