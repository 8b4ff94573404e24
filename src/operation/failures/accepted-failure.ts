/** Accepted failures: of functions that want a marker (`onFailure: "marker"`, calls.md 5.5), and of calls that are called off. */
import type { CallKey } from '../../../journal/ids.js';
import { isStillWaiting } from '../../calls/dispatch/stop.js';
import type { CallOptions } from '../../calls/options.js';
import { callFailureOf, markerOf } from '../../runtime/calls/call-failure.js';
import { Denial } from '../../runtime/denial.js';
import { endsTheRun } from '../../runtime/errors.js';
import { flow } from '../../values/value.js';
import { WorldError } from '../../world/world.js';
import type { CacheableCall, Found, Lookup } from '../cacheable-call.js';

/** Ends a call whose result is not wanted any more: its failure is accepted, because what it was a part of has ended without it. */
export class CalledOff extends WorldError {
  constructor(cause?: unknown) {
    super('INTERRUPTED', 'interrupted: its stage was ended', { cause });
    this.name = 'CalledOff';
  }
}

export function isAccepted(error: unknown, { onFailure }: CallOptions): boolean {
  return onFailure === 'marker' && callFailureOf(error) !== undefined && !(error instanceof Denial) && !endsTheRun(error);
}

/** Returns the marker that the call gives; throws the error where its function wants none. `options`: where they are known already. */
export async function acceptOrThrow(call: CacheableCall, error: unknown, lookup: Lookup, options?: CallOptions): Promise<Found> {
  const { run, operation, llm, loop } = call;
  const { inputs } = operation;
  call.countsIn?.endedInside(call.op.path);
  if (!isAccepted(error, options ?? (await llm.options(inputs)))) {
    noteUnresolved(call, error, lookup);
    throw error;
  }
  const place = { index: loop?.index ?? null, key: loop?.key ?? null, value: inputs[0] };
  return { result: flow(markerOf(error, place, run.failures), inputs, llm.labels, llm.sources), lookup, isFailed: true };
}

/** A call that was denied, called off or waits has not failed. An execution that a guard requested is no call by itself. */
function noteUnresolved({ op, operation, countsIn }: CacheableCall, error: unknown, { key }: Lookup): void {
  if (!countsIn || key === null || operation.repeat || callFailureOf(error) === undefined) return;
  if (error instanceof Denial || error instanceof CalledOff || isStillWaiting(error)) return;
  countsIn.unresolvedInside(key as CallKey, op.path);
}
