/** Finds the backend that the text of a `backend` attribute or option names. graph-pipelines.md 7.3. */
import { StageError } from '../model/outcome.js';
import type { Backend, Backends } from '../stage/backend.js';
import { commandBackend } from './command.js';
import { executableBackend } from './executable.js';

/** Stands in for a model, so that a pipeline can be tried without one. */
const simulatedBackend: Backend = {
  name: 'simulated',
  execute: async ({ node }) => ({ reply: `[Simulated] Response for stage: ${node.id}` }),
};

const BUILT_IN: Backends = new Map<string, (rest: string) => Backend>([
  ['simulated', () => simulatedBackend],
  ['cmd', (command) => commandBackend('cmd', command)],
  ['worker', (command) => commandBackend('worker', command)],
  ['exe', executableBackend],
]);

/** @param own backends of the embedding program, which win over built-in ones. Throws a permanent `StageError` for an unknown kind. */
export function backendFor(written: string, own: Backends = new Map()): Backend {
  const at = written.indexOf(':');
  const kind = backendKind(written);
  const rest = at < 0 ? '' : written.slice(at + 1).trim();
  const added = own.get(kind);
  if (added) return added(rest);
  const make = BUILT_IN.get(kind);
  if (!make || (kind !== 'simulated' && rest === ''))
    throw new StageError('permanent', `there is no backend "${written}": use simulated, cmd:COMMAND, worker:COMMAND or exe:FILE#NAME`);
  return make(rest);
}

/** Returns `cmd` for `cmd:wc -c`. */
export function backendKind(written: string): string {
  const at = written.indexOf(':');
  return (at < 0 ? written : written.slice(0, at)).trim();
}

export function isBuiltInBackend(kind: string): boolean {
  return BUILT_IN.has(kind);
}
