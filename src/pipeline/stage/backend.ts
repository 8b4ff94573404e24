/** The contract between model stages and what executes their calls. graph-pipelines.md 7.3, 13.3. */
import type { Json } from '../../../journal/event.js';
import type { Frame } from '../../runtime/frame.js';
import type { StageOutcome } from '../model/outcome.js';
import type { Stage } from './stage.js';

export interface Backend {
  /** Identifies how calls are executed: it is part of their fingerprint, so a reply is not reused under another name. */
  readonly name: string;
  execute(stage: Stage, frame: Frame, request: ModelRequest): Promise<ModelReply>;
}

export interface ModelRequest {
  /** The whole text to send: the carry-over text, an empty line, the prompt. */
  readonly text: string;
  /** Executes a tool call that the model requests, between the hooks of the pipeline. */
  readonly callTool: CallTool;
}

export interface ModelReply {
  readonly reply: string;
  /** The outcome that the backend reported along with the reply, if it did. */
  readonly outcome?: StageOutcome;
}

/** Rejects with what `execute` rejects with. */
export type CallTool = <T extends Json>(tool: string, input: Json, execute: () => Promise<T>) => Promise<ToolResult<T>>;

/** The result of a tool call, or the reason why it was skipped: report that reason to the model. */
export type ToolResult<T> = { readonly output: T } | { readonly skipped: string };

/** Makes backends by kind, the part of `kind:rest` before the colon; each is handed the rest. */
export type Backends = ReadonlyMap<string, (rest: string) => Backend>;
