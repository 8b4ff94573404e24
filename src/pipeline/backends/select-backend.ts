/** Who answers a model stage. graph-pipelines.md 7.3. */
import type { Frame } from '../../runtime/frame.js';
import type { Stage } from '../handlers/handler.js';
import { StageError, type StageOutcome } from '../model/outcome.js';
import { commandBackend } from './command.js';
import { executableBackend } from './executable.js';
import { simulatedBackend } from './simulated.js';
import type { CallTool } from './tool-calls.js';

export interface ModelRequest {
  /** All that is sent: carry-over text, an empty line, the prompt. */
  readonly text: string;
  /** Makes a call that the model wishes, between the pipeline's hooks. */
  readonly callTool: CallTool;
}

/** A reply, and the outcome where one was reported with it. */
export interface ModelReply {
  readonly reply: string;
  readonly outcome?: StageOutcome;
}

export interface Backend {
  /** Identifies how the question is asked: part of the call's fingerprint. */
  readonly name: string;
  execute(stage: Stage, frame: Frame, asked: ModelRequest): Promise<ModelReply>;
}

/** By kind, the part in front of the colon; each gets what stands behind it. */
export type Backends = ReadonlyMap<string, (rest: string) => Backend>;

const BUILT_IN: Backends = new Map<string, (rest: string) => Backend>([
  ['simulated', () => simulatedBackend],
  ['cmd', (command) => commandBackend('cmd', command)],
  ['worker', (command) => commandBackend('worker', command)],
  ['exe', executableBackend],
]);

/** `own` are those of the embedding program. Throws a permanent `StageError` for a backend that there isn't. */
export function backendFor(written: string, own: Backends = new Map()): Backend {
  const at = written.indexOf(':');
  const kind = backendKind(written);
  const rest = at < 0 ? '' : written.slice(at + 1).trim();
  const added = own.get(kind);
  if (added) return added(rest);
  const make = BUILT_IN.get(kind);
  if (!make || (kind !== 'simulated' && rest === ''))
    throw new StageError('permanent', `the backend "${written}" is none of simulated, cmd:COMMAND, worker:COMMAND, exe:FILE#NAME`);
  return make(rest);
}

/** `cmd` of `cmd:wc -c`. */
export function backendKind(written: string): string {
  const at = written.indexOf(':');
  return (at < 0 ? written : written.slice(0, at)).trim();
}

export function isBuiltInBackend(kind: string): boolean {
  return BUILT_IN.has(kind);
}
