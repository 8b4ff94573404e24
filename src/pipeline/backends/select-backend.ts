/** Finds the backend that the text of a `backend` attribute or option names. graph-pipelines.md 7.3. */
import { backendParts, MODEL_PROGRAMS } from '../../calls/backends/programs.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { graphAttribute, nodeAttribute, type Graph, type GraphNode } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import type { Backend, Backends, OwnBackend } from '../stage/backend.js';
import { commandBackend } from './command.js';
import { executableBackend } from './executable.js';
import { programBackend } from './program.js';

/** Stands in for a model, so that a pipeline can be tried without one. */
const simulatedBackend: Backend = {
  name: SIMULATED,
  execute: async ({ node }, frame) => {
    frame.attempt?.report?.usage({ inputTokens: 0, outputTokens: 0, costUsd: 0 });
    return { reply: `[Simulated] Response for stage: ${node.id}` };
  },
};

const BUILT_IN: ReadonlyMap<string, (rest: string) => OwnBackend> = new Map<string, (rest: string) => OwnBackend>([
  [SIMULATED, () => simulatedBackend],
  ...MODEL_PROGRAMS.map((program): [string, (rest: string) => Backend] => [program.name, (rest) => programBackend(program, rest)]),
  ['cmd', (command) => commandBackend('cmd', command)],
  ['worker', (command) => commandBackend('worker', command)],
  ['exe', executableBackend],
]);

/** The kinds that need nothing behind their name. */
const COMPLETE: ReadonlySet<string> = new Set([SIMULATED, ...MODEL_PROGRAMS.map(({ name }) => name)]);

/** Lists the backends that can be written, for messages. */
const BACKENDS_WANTED = `${[...COMPLETE].join(', ')}, cmd:COMMAND, worker:COMMAND or exe:FILE#NAME`;

/** Returns the backend that the run or the stage names, as it is written; undefined or empty where none is configured. */
export function writtenBackend(ofRun: string | undefined, graph: Graph, node: GraphNode | undefined): string | undefined {
  return ofRun ?? ((node && nodeAttribute(node, 'backend')) || graphAttribute(graph, 'backend'));
}

/** Returns whether a stage is simulated: that is its backend, or it has none. A node that is gone from the graph names none. */
export function isSimulatedStage(ofRun: string | undefined, graph: Graph, node: GraphNode | undefined): boolean {
  return backendKind(writtenBackend(ofRun, graph, node) || SIMULATED) === SIMULATED;
}

/** @param own backends of the embedding program, which win over built-in ones. Throws a permanent `StageError` for an unknown kind. */
export function backendFor(written: string, own: Backends = new Map()): OwnBackend {
  const { kind, rest } = backendParts(written);
  const added = own.get(kind);
  if (added) return checkedBackend(added(rest), written);
  const make = BUILT_IN.get(kind);
  if (!make || (rest === '' && !COMPLETE.has(kind)))
    throw new StageError('permanent', `there is no backend "${written}": use ${BACKENDS_WANTED}`);
  return make(rest);
}

/** Returns the backend. Throws a permanent `StageError` for what the embedding program returned in its place. */
function checkedBackend(backend: unknown, written: string): Backend {
  const { name, execute } = (backend ?? {}) as Partial<Backend>;
  if (typeof name === 'string' && typeof execute === 'function') return backend as Backend;
  throw new StageError('permanent', `the backend "${written}" of the program has to have a text "name" and a function "execute"`);
}

/** Returns `cmd` for `cmd:wc -c`. */
export function backendKind(written: string): string {
  return backendParts(written).kind;
}

export function isBuiltInBackend(kind: string): boolean {
  return BUILT_IN.has(kind);
}
