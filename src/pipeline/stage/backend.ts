/** The contract between model stages and what executes their calls. graph-pipelines.md 7.3, 13.3. */
import type { Json } from '../../../journal/event.js';
import type { Definition } from '../../runtime/definitions/definition.js';
import type { Frame } from '../../runtime/frame.js';
import type { StageOutcome } from '../model/outcome.js';
import type { Stage } from './stage.js';

export interface Backend {
  /** Identifies how calls are executed: it is part of their fingerprint, so a reply is not reused under another name. */
  readonly name: string;
  /** The command that executes calls: a program that is known has a lane of its own. calls.md 12.1. */
  readonly commandLine?: string;
  /** Conversations are kept outside: a stage of a thread sends its prompt alone, with the session of the stage before. */
  readonly keepsConversations?: true;
  /** The model can end its reply with an outcome, and is told how. */
  readonly readsOutcome?: true;
  /** `frame` is inside the call: its effects are recorded there, and its attempt reads replies. */
  execute(stage: Stage, frame: Frame, request: ModelRequest): Promise<ModelReply>;
}

/** A backend of this program. The library exports no type of definitions. */
export interface OwnBackend extends Backend {
  /** Adds to the definition of a call what it would be executed with beside the name. `frame` is inside the call. */
  complete?(own: Definition, stage: Stage, frame: Frame): Promise<Definition>;
}

export interface ModelRequest {
  /** The text to send: the carry-over text, an empty line, the prompt. */
  readonly text: string;
  /** Tells the model how to report an outcome; it is sent behind the text. Absent where the stage takes none. */
  readonly contract?: string;
  /** The conversation to continue, under the name that an earlier reply of this backend gave it. */
  readonly session?: string;
  /** Executes a tool call that the model requests, between the hooks of the pipeline. */
  readonly callTool: CallTool;
}

export interface ModelReply {
  readonly reply: string;
  /** The outcome that the backend reported along with the reply, if it did. */
  readonly outcome?: StageOutcome;
  /** The conversation in which the reply was given, for the next stage of the thread. Not recorded with the reply. */
  readonly session?: string;
}

/** Rejects with what `execute` rejects with. */
export type CallTool = <T extends Json>(tool: string, input: Json, execute: () => Promise<T>) => Promise<ToolResult<T>>;

/** The result of a tool call, or the reason why it was skipped: report that reason to the model. */
export type ToolResult<T> = { readonly output: T } | { readonly skipped: string };

/** Makes backends by kind, the part of `kind:rest` before the colon; each is handed the rest. */
export type Backends = ReadonlyMap<string, (rest: string) => Backend>;
