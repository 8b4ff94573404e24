/** Finds in whole lines of a run the results that compete for their calls, and which calls ended. team-store.md 4.2. */
import type { EventOf, JournalEvent } from '../../event.js';
import type { CallKey, EventRef, OpPath } from '../../ids.js';

interface Place {
  /** Among the lines of the turn, from 0. */
  readonly index: number;
  readonly seq: number;
  readonly at: number;
  readonly bytes: number;
}

/** A result as `mlld.append` takes it. `run` and `refused` name the result that it may replace. */
export interface CompetingResult extends Place {
  readonly key: CallKey;
  readonly op: OpPath;
  readonly run?: string;
  readonly refused?: number;
}

/** The end of a call that left no result which others may reuse. */
export interface FailedEnd extends Place {
  readonly key: CallKey;
}

export interface CallEnds {
  readonly results: readonly CompetingResult[];
  /** The last one of each call that has no result here. */
  readonly failed: readonly FailedEnd[];
  /** The keys of calls that ended. */
  readonly ended: readonly CallKey[];
}

/** The results that calls in flight may replace. */
export type Refusals = Map<OpPath, EventRef>;

/**
 * Begins the line of a call (CODEC-1). Key and operation are there where they can be taken as they are, without what JSON writes in another
 * way.
 */
const CALL_LINE =
  /\{"v":\d{1,9},"seq":(\d{1,16}),"type":"call\.(started|completed|failed|superseded)"(?:,"key":"(sha256:[0-9a-f]{64})","op":"([ !#-[\]-~]*)")?/y;
export const NO_ENDS: CallEnds = { results: [], failed: [], ended: [] };

/** False for a result that no other run may reuse. */
export function competes({ unusable, result }: Pick<EventOf<'call.completed'>, 'unusable' | 'result'>): boolean {
  return unusable === undefined && !('redacted' in result);
}

/**
 * Takes refusals of calls that start into `refusals`. `ats` are the offsets of the lines, and `text` is the lines read as Latin-1: each
 * unit is a byte. A line is parsed only where it may say more than that its result competes: to parse it costs more than all the rest.
 */
export function endsInLines(lines: Buffer, text: string, ats: readonly number[], refusals: Refusals): CallEnds {
  if (!text.includes('"type":"call.')) return NO_ENDS;
  const [first = 0] = ats;
  let mayRefuse: boolean | undefined;
  let mayNotCompete: boolean | undefined;
  const results = new Map<number, CompetingResult>();
  const failed = new Map<CallKey, FailedEnd>();
  const ended = new Set<CallKey>();
  const add = (key: CallKey, op: OpPath, place: Place): void => {
    const refused = refusals.get(op);
    ended.add(key);
    results.set(place.seq, { key, op, ...place, ...(refused && { run: refused.run, refused: refused.seq }) });
    failed.delete(key);
  };
  for (const [index, at] of ats.entries()) {
    CALL_LINE.lastIndex = at - first;
    const call = CALL_LINE.exec(text);
    if (call === null) continue;
    const [, seq, type, key, op] = call;
    if (type === 'started' && !(mayRefuse ??= text.includes('refused":'))) continue;
    const end = (ats[index + 1] ?? first + lines.length) - 1;
    const place: Place = { index, seq: Number(seq), at, bytes: end - at };
    if (type === 'completed' && key !== undefined && !(mayNotCompete ??= text.includes('unusable":') || text.includes('redacted":'))) {
      add(key as CallKey, op as OpPath, place);
      continue;
    }
    const event = JSON.parse(lines.toString('utf8', at - first, end - first)) as JournalEvent;
    switch (event.type) {
      case 'call.started':
        if (event.refused !== undefined) refusals.set(event.op, event.refused);
        break;
      case 'call.completed':
        if (competes(event)) {
          add(event.key, event.op, place);
          break;
        }
        ended.add(event.key);
        failed.set(event.key, { key: event.key, ...place });
        break;
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

/** The last two parameters of `mlld.append`. */
export interface ToldEnds {
  readonly results: string | null;
  readonly ended: readonly CallKey[];
}

const TOLD_MEMBERS = ['results', 'failed', 'key', 'seq', 'at', 'bytes', 'run', 'refused'];

/** Names only the lines of results that are the one end of their call and replace none. PLAIN-END-1 in `schema/0026-plain-ends.ts`. */
export function plainEnds({ results, ended }: CallEnds): ToldEnds | undefined {
  const isPlain = results.length === ended.length && results.every(({ key, run }, n) => run === undefined && key === ended[n]);
  if (!isPlain || results.length === 0) return undefined;
  return { results: `[${results.map(({ index }) => index).join()}]`, ended };
}

/** FAILED-END-2 in `schema/workers/0024-failed-ends.ts`. */
export function describedEnds({ results, failed, ended }: CallEnds): ToldEnds {
  const told = failed.length > 0 ? { results, failed } : results.length > 0 ? results : undefined;
  return { results: told === undefined ? null : JSON.stringify(told, TOLD_MEMBERS), ended };
}
