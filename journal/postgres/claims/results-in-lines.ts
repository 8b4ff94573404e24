/** Finds in whole lines of a run the results that compete for their calls, and which calls ended. team-store.md 4.2. */
import type { EventOf, JournalEvent } from '../../event.js';
import type { CallKey, EventRef, OpPath } from '../../ids.js';

/** A result as `mlld.append` takes it. `run` and `refused` name the result that it may replace. */
export interface CompetingResult {
  readonly key: CallKey;
  readonly op: OpPath;
  readonly seq: number;
  readonly at: number;
  readonly bytes: number;
  readonly run?: string;
  readonly refused?: number;
}

/** The end of a call that left no result which others may reuse. */
export type FailedEnd = Pick<CompetingResult, 'key' | 'seq' | 'at' | 'bytes'>;

export interface CallEnds {
  readonly results: readonly CompetingResult[];
  /** The last one of each call that has no result here. */
  readonly failed: readonly FailedEnd[];
  /** The keys of calls that ended. */
  readonly ended: readonly CallKey[];
}

/** The results that calls in flight may replace. */
export type Refusals = Map<OpPath, EventRef>;

const CALL_LINE = /^\{"v":\d{1,9},"seq":\d{1,16},"type":"call\.(started|completed|failed|superseded)"/;
export const NO_ENDS: CallEnds = { results: [], failed: [], ended: [] };

/** False for a result that no other run may reuse. */
export function competes({ unusable, result }: Pick<EventOf<'call.completed'>, 'unusable' | 'result'>): boolean {
  return unusable === undefined && !('redacted' in result);
}

/** `ats` are the offsets of the lines. Takes refusals of calls that start into `refusals`. */
export function endsInLines(text: string, ats: readonly number[], refusals: Refusals): CallEnds {
  if (!text.includes('"type":"call.')) return NO_ENDS;
  const results = new Map<number, CompetingResult>();
  const failed = new Map<CallKey, FailedEnd>();
  const ended = new Set<CallKey>();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const type = CALL_LINE.exec(line)?.[1];
    if (type === undefined || (type === 'started' && !line.includes('"refused":'))) continue;
    const event = JSON.parse(line) as JournalEvent;
    const place = { seq: event.seq, at: ats[index] ?? 0, bytes: Buffer.byteLength(line) };
    switch (event.type) {
      case 'call.started':
        if (event.refused !== undefined) refusals.set(event.op, event.refused);
        break;
      case 'call.completed': {
        ended.add(event.key);
        if (!competes(event)) {
          failed.set(event.key, { key: event.key, ...place });
          break;
        }
        const refused = refusals.get(event.op);
        results.set(event.seq, { key: event.key, op: event.op, ...place, ...(refused && { run: refused.run, refused: refused.seq }) });
        failed.delete(event.key);
        break;
      }
      case 'call.failed':
        if (event.retryInMs !== undefined) break;
        ended.add(event.key);
        failed.set(event.key, { key: event.key, ...place });
        break;
      case 'call.superseded':
        results.delete(event.of);
        break;
      default:
    }
  }
  return { results: [...results.values()], failed: [...failed.values()], ended: [...ended] };
}
