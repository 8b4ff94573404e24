/** Follows which calls of a run are simulated: their costs and times say nothing of calls that ask a model. */
import type { JournalEvent } from '../../journal/event.js';
import { simulates } from '../../journal/facts/simulated-definition.js';
import type { Fingerprint, OpPath } from '../../journal/ids.js';

export interface SimulatedCalls {
  readonly definitions: Set<Fingerprint>;
  readonly inFlight: Set<OpPath>;
}

export function noSimulatedCalls(): SimulatedCalls {
  return { definitions: new Set(), inFlight: new Set() };
}

/** Returns whether the event is one of a simulated call. It takes the events of a run in their order, each once. */
export function isOfSimulatedCall({ definitions, inFlight }: SimulatedCalls, event: JournalEvent): boolean {
  switch (event.type) {
    case 'definition.recorded':
      if (simulates(event.parts)) definitions.add(event.fingerprint);
      return false;
    case 'call.started':
      if (!definitions.has(event.fingerprint)) inFlight.delete(event.op);
      else inFlight.add(event.op);
      return inFlight.has(event.op);
    case 'result.received':
      return inFlight.has(event.op);
    case 'call.withdrawn':
    case 'call.completed':
    case 'call.failed':
      return inFlight.delete(event.op);
    default:
      return false;
  }
}
