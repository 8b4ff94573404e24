/**
 * Results that came too late: another run's result of the same call was durable first. team-store.md 4.2.
 *
 * LATE-1 A late result and the `call.superseded` that says so are committed together, so no moment shows two results of a call. A kill
 *    before leaves neither; the lines may be in a spill, and are late again when they are brought in.
 */
import type { RecordedResult } from '../../storage/claims.js';
import { encode, isEndOfRun } from '../../codec.js';
import type { FactOf, JournalEvent } from '../../event.js';
import { seqOf, type CallKey, type OpPath, type RunId, type Seq } from '../../ids.js';
import { NEWLINE } from '../../lines/line-buffer.js';
import { upcast, type AnyEvent } from '../../upcast.js';
import { hashBehind, type Head } from '../lines.js';
import type { CompetingResult } from './results-in-lines.js';

export interface LateResult {
  readonly key: CallKey;
  readonly op: OpPath;
  /** The `call.completed` that is late. */
  readonly of: Seq;
  readonly by: RecordedResult;
}

/** The server has taken nothing of a turn, because results in it are late. */
export class LateResults extends Error {
  constructor(readonly late: readonly LateResult[]) {
    super('results came too late');
  }
}

interface Refused {
  readonly key: CallKey;
  readonly seq: number;
  readonly run: RunId;
  readonly by: number;
  readonly at: number;
  readonly bytes: number;
}

/** `detail` is what `mlld.append` says. */
export function lateResults(detail: string, competing: readonly CompetingResult[]): LateResults {
  const refused = JSON.parse(detail) as readonly Refused[];
  return new LateResults(
    refused.map(({ key, seq, run, by, at, bytes }) => {
      const op = competing.find((result) => result.seq === seq)?.op as OpPath; // the server was given each of them
      return { key, op, of: seqOf(seq), by: { run, seq: seqOf(by), position: { offset: at, bytes } } };
    }),
  );
}

export function supersededFact({ key, op, of, by: { run, seq } }: LateResult): FactOf<'call.superseded'> {
  return { type: 'call.superseded', key, op, of, by: { run, seq } };
}

/** Tells whether the last of whole lines is the end of a run. */
export function endsRun(lines: Uint8Array): boolean {
  return isEndOfRun(Buffer.from(lines.subarray(lines.lastIndexOf(NEWLINE, lines.length - 2) + 1)).toString('utf8'));
}

/** Adds what says that results are late to the last lines of a run that follow on `head`: behind them, but before `run.finished`. */
export function withSuperseded(lines: Buffer, head: Head, late: readonly LateResult[]): Buffer {
  const lastAt = lines.lastIndexOf(NEWLINE, lines.length - 2) + 1;
  const last = lines.toString('utf8', lastAt, lines.length - 1);
  const isEnd = isEndOfRun(last);
  const kept = isEnd ? lines.subarray(0, lastAt) : lines;
  const pieces: Buffer[] = [kept];
  let hash = kept.length === 0 ? head.hash : hashBehind(kept);
  let seq = head.seq + countLines(kept);
  const add = (fact: FactOf<'call.superseded'> | JournalEvent, ts: string): void => {
    const line = encode(fact, seqOf(seq++), ts, hash);
    hash = line.hash;
    pieces.push(Buffer.from(line.text));
  };
  for (const each of late) add(supersededFact(each), new Date().toISOString());
  if (isEnd) {
    const end = upcast(JSON.parse(last) as AnyEvent);
    add(end, end.ts);
  }
  return Buffer.concat(pieces);
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(NEWLINE); at >= 0; at = lines.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
