/**
 * Reads what the shared lanes of a project have in the database. Each colleague may write there: what no program of ours writes counts as
 * not there, so that one row stops neither a run nor a report about the others.
 */
import { isObject } from '../../json-object.js';
import type { HeardEvent, LaneEvent, LearnedLimits } from './shared-lanes.js';

/** Undefined where the limits are none that a lane can have. */
export function learnedLimitsIn(value: unknown): LearnedLimits | undefined {
  if (!isObject(value)) return undefined;
  const { limit, ceiling, gapMs } = value;
  if (!isAmount(limit) || ![ceiling, gapMs].every((each) => each === undefined || isAmount(each))) return undefined;
  return { limit, ...(isAmount(ceiling) && { ceiling }), ...(isAmount(gapMs) && { gapMs }) };
}

/** Undefined where the event says nothing that a lane could learn from. */
export function heardEventIn(run: unknown, event: unknown, agoMs: unknown): HeardEvent | undefined {
  const known = isObject(event) && event['kind'] === 'gone' ? ({ kind: 'gone' } as const) : laneEventIn(event);
  return known && { run: String(run), event: known, agoMs: isAmount(agoMs) ? agoMs : 0 };
}

function laneEventIn(event: unknown): LaneEvent | undefined {
  if (!isObject(event)) return undefined;
  const { kind, id, waited, how, retryAfterMs } = event;
  if (!isAmount(id)) return undefined;
  if (kind === 'start') return WAITED.has(waited) ? { kind, id, waited: waited as 'not' } : undefined;
  if (kind !== 'end' || !HOW.has(how) || (retryAfterMs !== undefined && !isAmount(retryAfterMs))) return undefined;
  return { kind, id, how: how as 'other', ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

const WAITED: ReadonlySet<unknown> = new Set(['for the gap', 'otherwise', 'not']);
const HOW: ReadonlySet<unknown> = new Set(['accepted', 'rejected', 'alone', 'other']);

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
