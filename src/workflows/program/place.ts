/** Follows a program through its asynchronous code: the branch that a piece of it belongs to, and the call around. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { BodyReport } from '../../calls/body-report.js';
import type { Branch } from '../run/branch.js';

export interface CallPlace {
  readonly key: string;
  readonly report: BodyReport | undefined;
  /** Aborted when the attempt must stop. */
  readonly signal: () => AbortSignal;
}

export interface Place {
  /** The run that it is a place of: a program may run others. */
  readonly run: object;
  readonly branch: Branch;
  readonly call: CallPlace | undefined;
}

const PLACES = new AsyncLocalStorage<Place>();

export function at<T>(place: Place, work: () => T): T {
  return PLACES.run(place, work);
}

/** Undefined outside of the run. */
export function placeIn(run: object): Place | undefined {
  const place = PLACES.getStore();
  return place?.run === run ? place : undefined;
}
