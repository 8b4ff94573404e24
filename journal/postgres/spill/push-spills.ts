/**
 * Brings lines into the database that processes which are gone have left in spills. team-store.md 4.4, 4.5.
 *
 * PUSH-SPILLS-1 The lines go behind the head of their run, which must be one of the places that they pass through: what is there already
 *    is left out. A run that was sealed meanwhile takes nothing: the ends of its calls go into a salvage run.
 * PUSH-SPILLS-2 One process at a time brings in the spills of a workflow, and a spill is removed when all of it is recorded. A kill before
 *    leaves it whole, and bringing it in again does nothing twice (PUSH-SPILLS-1, SALVAGE-2). A damaged one is kept under another name.
 */
import type { RunRef, Workflow } from '../../ids.js';
import { JournalError } from '../../errors.js';
import type { Transactions } from '../connection.js';
import { LateResults, withSuperseded } from '../claims/late-results.js';
import type { Refusals } from '../claims/results-in-lines.js';
import { startsOf, TURN_BYTES_MAX, TURN_LINES_MAX, type Head } from '../lines.js';
import { appendTurn } from '../run-rows.js';
import { piecesOf } from '../raw-lines.js';
import type { SalvageRun } from '../salvage/salvage-run.js';
import { readSpill, setAside, spillsIn, type Spilled, type SpillPlace } from './spill-file.js';

export interface PushedSpill {
  readonly ref: RunRef;
  /** Events that the run got. */
  readonly events: number;
  /** Ends of calls that went into a salvage run, because the run was sealed. */
  readonly salvaged: number;
  /** The reason why it, or the rest of it, could not be brought in; that is kept. */
  readonly error?: JournalError;
}

export interface PushPorts {
  readonly place: SpillPlace;
  /** The id of the store. */
  readonly store: string;
  readonly project: string;
  readonly sql: Transactions;
  readonly lock: (workflow: Workflow) => Promise<() => Promise<void>>;
  readonly salvage: (ref: RunRef) => SalvageRun;
  /** The results that calls of the run may replace, as it had recorded them. */
  readonly refusals: (ref: RunRef) => Promise<Refusals>;
}

export async function pushSpills(ports: PushPorts): Promise<readonly PushedSpill[]> {
  const pushed: PushedSpill[] = [];
  for (const path of await spillsIn(ports.place, ports.store)) {
    const seen = await readSpill(ports.place.disk, path);
    if (seen === undefined || seen.project !== ports.project) continue;
    const unlock = await ports.lock(seen.ref.workflow); // PUSH-SPILLS-2
    try {
      const spill = await readSpill(ports.place.disk, path); // another process may have brought it in meanwhile
      if (spill === undefined) continue;
      pushed.push(await push(ports, spill));
    } finally {
      await unlock();
    }
  }
  return pushed;
}

async function push(ports: PushPorts, spill: Spilled): Promise<PushedSpill> {
  const { ref } = spill;
  try {
    const counts = await recorded(ports, spill);
    if (spill.isDamaged) return { ref, ...counts, error: await setAside(ports.place.disk, spill) };
    await ports.place.disk.remove(spill.path);
    return { ref, ...counts };
  } catch (error) {
    if (!(error instanceof JournalError) || error.code === 'STORE_UNREACHABLE') throw error;
    return { ref, events: 0, salvaged: 0, error };
  }
}

/** PUSH-SPILLS-1 */
async function recorded(ports: PushPorts, spill: Spilled): Promise<{ readonly events: number; readonly salvaged: number }> {
  const { ref, fence, lines } = spill;
  const [row] = await ports.sql.query(
    `select r.run_id::text as id, r.fence, r.next_seq as seq, r.bytes::float8 as offset, r.hash, r.finished
     from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
     where p.name = $1 and w.path = $2 and r.run = $3`,
    [ports.project, ref.workflow, ref.run],
  );
  if (row === undefined) throw wentBack(spill, 'the run is not there any more');
  if (row['fence'] !== fence) {
    const salvage = ports.salvage(ref);
    await salvage.take(lines.map(({ bytes }) => bytes));
    await salvage.close();
    return { events: 0, salvaged: salvage.count };
  }
  let head: Head = { offset: Number(row['offset']), seq: Number(row['seq']), hash: String(row['hash']) };
  // Only the process that spilled can have ended the run, with all that it had spilled before that.
  if (row['finished'] === true && !isOnTheWay(spill, head)) return { events: 0, salvaged: 0 };
  const behind = linesBehind(spill, head);
  const taken = { id: String(row['id']), fence };
  const refusals = await ports.refusals(ref);
  let isOneTurn = false;
  for (let left: Buffer = Buffer.concat(behind); left.length > 0;) {
    const piece = isOneTurn ? left : firstPiece(left);
    const ats: number[] = [];
    startsOf(piece, head.offset, ats);
    try {
      head = await appendTurn(ports.sql, taken, { head, lines: piece, ats, refusals });
      left = left.subarray(piece.length);
    } catch (error) {
      if (!(error instanceof LateResults)) throw error;
      if (isOneTurn) left = withSuperseded(left, head, error.late); // LATE-1
      isOneTurn = true; // the spill may say further on which results were late
    }
  }
  // Its process is gone; a lease that can't be given back runs out.
  await ports.sql.query(`update mlld.runs set lease_until = '-infinity' where run_id = $1 and fence = $2`, [taken.id, fence]);
  return { events: behind.length, salvaged: 0 };
}

function firstPiece(lines: Buffer): Buffer {
  for (const piece of piecesOf(lines, { bytes: TURN_BYTES_MAX, count: TURN_LINES_MAX })) return piece;
  return lines;
}

/** Throws STORE_WENT_BACK when the head is no place that the lines pass through. */
function linesBehind(spill: Spilled, head: Head): readonly Buffer[] {
  if (!isOnTheWay(spill, head))
    throw wentBack(spill, `it holds ${head.offset} bytes of the run, and ${spill.head.offset} were acknowledged`);
  return spill.lines.filter(({ offset }) => offset >= head.offset).map(({ bytes }) => bytes);
}

function isOnTheWay({ head, lines }: Spilled, { offset, hash }: Head): boolean {
  if (head.offset === offset) return head.hash === hash;
  return lines.some((line) => line.offset + line.bytes.length === offset && line.hash === hash);
}

/** Its reader knows which run it is about. */
function wentBack({ path }: Spilled, what: string): JournalError {
  return new JournalError('STORE_WENT_BACK', `the store has lost what came before: ${what}`, {
    hint: `an older state of the database was restored; ${path} holds what was recorded behind it: move it away when nobody needs it`,
  });
}
