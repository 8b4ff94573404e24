/**
 * Folds the processes that runs started and did not see end: a killed run may have left them behind. A run that ended in order left
 * nothing, and what a later run has dealt with is gone. Whether such a process still lives only the system knows.
 */
import type { EventOf, JournalEvent } from '../../journal/event.js';
import type { OpPath, RunId } from '../../journal/ids.js';
import type { Projection } from './projection.js';

export interface RecordedProcess extends Pick<EventOf<'process.started'>, 'group' | 'started' | 'boot'> {
  readonly atMs: number;
}

/** Those of one operation. */
interface InFlight {
  readonly processes: RecordedProcess[];
  ended: number;
}

export type Processes = Map<RunId, Map<OpPath, InFlight>>;

export const processes: Projection<Processes> = {
  initial: () => new Map(),
  apply(state, event, { ref: { run } }) {
    switch (event.type) {
      case 'run.started':
        for (const settled of event.settled ?? []) state.delete(settled);
        return state;
      case 'run.finished':
        state.delete(run);
        return state;
      case 'process.started':
        begun(state, run, event);
        return state;
      case 'effect.performed':
        if (event.kind === 'command.run') ended(state, run, event);
        return state;
      default:
        return state;
    }
  },
};

function begun(state: Processes, run: RunId, { op, group, started, boot, ts }: EventOf<'process.started'>): void {
  const ofRun = state.get(run) ?? new Map<OpPath, InFlight>();
  state.set(run, ofRun);
  const inFlight = ofRun.get(op) ?? { processes: [], ended: 0 };
  ofRun.set(op, inFlight);
  inFlight.processes.push({ group, started, boot, atMs: Date.parse(ts) });
}

/** The journal does not say which of several processes of one operation ended: all are kept until none is in flight. */
function ended(state: Processes, run: RunId, { op }: JournalEvent & { readonly op: OpPath }): void {
  const inFlight = state.get(run)?.get(op);
  if (!inFlight) return;
  inFlight.ended += 1;
  if (inFlight.ended === inFlight.processes.length) state.get(run)?.delete(op);
}

export function processesOf(state: Processes, run: RunId): readonly RecordedProcess[] {
  return [...(state.get(run)?.values() ?? [])].flatMap((inFlight) => inFlight.processes);
}

/** As an index keeps them. */
export type PackedProcesses = readonly (readonly [RunId, readonly (readonly [OpPath, ended: number, readonly RecordedProcess[]])[]])[];

export function packProcesses(state: Processes): PackedProcesses {
  return [...state].map(([run, ofRun]) => [run, [...ofRun].map(([op, { ended: count, processes: all }]) => [op, count, all])]);
}

export function unpackProcesses(packed: PackedProcesses = []): Processes {
  return new Map(
    packed.map(([run, ofRun]) => [run, new Map(ofRun.map(([op, count, all]) => [op, { processes: [...all], ended: count }]))]),
  );
}
