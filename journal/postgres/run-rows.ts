/**
 * Takes the lines of a run into the database.
 *
 * ROWS-1 A turn (whole pieces of the writer's queue) is one transaction that moves the run's head and adds the lines; it is refused
 *    unless fence, number and hash of the head are those that it follows on. So lines are there whole, once, in order, or not at all: a
 *    kill, here or of the server, leaves the run at the end of a turn.
 * ROWS-2 A turn whose answer did not arrive may have been done. `recover` asks for the head and sends only what is behind it.
 * ROWS-3 A raised fence means that somebody has sealed the run: nothing more is sent (STORE_SEALED). A head that is none of ours means that
 *    the database went back in time (STORE_WENT_BACK).
 * ROWS-4 Results compete with those of other runs in the transaction that holds them. When one of them is late, nothing of the turn is
 *    taken (`LateResults`), and the lines are to be sent again with a `call.superseded` for each that is late, as one turn (LATE-1).
 * ROWS-5 A statement right behind the last turn gives back the lease, the claims and the offers of the run; it does nothing where that
 *    turn was refused. A kill in between leaves them to the lease, and to the sweeps of others.
 */
import { JournalError } from '../errors.js';
import type { RunRef } from '../ids.js';
import type { Piece, Unsynced } from '../lines/unsynced.js';
import { endsRun, lateResults } from './claims/late-results.js';
import { momentNow, type OwnLease } from './claims/own-lease.js';
import {
  describedEnds,
  endsInLines,
  NO_ENDS,
  plainEnds,
  type CompetingResult,
  type Refusals,
  type ToldEnds,
} from './claims/results-in-lines.js';
import type { Sql } from './connection.js';
import { digestsIn, firstSeq, hashBehind, NO_LINES, startsOf, TURN_BYTES_MAX, TURN_LINES_MAX, type Head } from './lines.js';
import { LATE_RESULT_STATE, NOT_UNIQUE_STATE, OTHER_HEAD_STATE, SEALED_STATE, stateBehind } from './store-errors.js';

export interface RunRow {
  /** A bigint, as text. */
  readonly id: string;
  readonly fence: number;
}

export interface RunRowsOptions {
  readonly ref: RunRef;
  readonly sql: Sql;
  /** A statement that takes longer counts as lost. */
  readonly timeoutMs: number;
  /** Makes the row of the run, or finds the one that this writer has made before. */
  readonly begin: () => Promise<RunRow>;
  readonly head?: Head;
  /** `begin` acknowledges its beginning. */
  readonly lease: OwnLease;
  /** Called when ends of calls, or of the run, are committed. */
  readonly onEnded?: () => void;
}

export class RunRows {
  private made: RunRow | undefined;
  /** The end of what the database has of the run, as far as its answers say. */
  private head: Head;
  private isClosed = false;
  private readonly refusals: Refusals = new Map();
  private isOneTurn = false;
  private wasReleased = false;

  constructor(private readonly options: RunRowsOptions) {
    this.head = options.head ?? NO_LINES;
  }

  /** Called again after it has failed, it tries again. */
  async begin(): Promise<RunRow> {
    return (this.made ??= await this.options.begin());
  }

  /** Undefined until the run is there. */
  get row(): RunRow | undefined {
    return this.made;
  }

  isOf({ workflow, run }: RunRef): boolean {
    return this.options.ref.run === run && this.options.ref.workflow === workflow;
  }

  get lease(): OwnLease {
    return this.options.lease;
  }

  get headNow(): Head {
    return this.head;
  }

  /** ROWS-2 */
  async recover(unsynced: Unsynced): Promise<void> {
    const found = await this.ownRow();
    const head: Head = { offset: Number(found['offset']), seq: Number(found['seq']), hash: String(found['hash']) };
    if (!isOurs(unsynced, head)) throw this.wentBack(`it holds ${head.offset} bytes, and ${unsynced.start} were acknowledged`);
    this.head = head;
    await this.take(unsynced.from(head.offset).map(({ bytes }) => bytes));
  }

  /** Does nothing for a run that is not there yet. ROWS-3 */
  async checkOwner(): Promise<void> {
    if (this.made !== undefined) await this.ownRow();
  }

  /** ROWS-3 */
  private async ownRow(): Promise<{ readonly [column: string]: unknown }> {
    const { id, fence } = await this.begin();
    const [found] = await this.options.sql.query(
      'select fence, next_seq as seq, bytes::float8 as offset, hash from mlld.runs where run_id = $1',
      [id],
      this.options.timeoutMs,
    );
    if (found === undefined) throw this.wentBack('the run is not there any more');
    if (found['fence'] !== fence) throw this.sealed();
    return found;
  }

  /** Sends the next lines as one turn, however many they are. ROWS-4 */
  takeAsOne(): void {
    this.isOneTurn = true;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Appends pieces of whole lines that follow on the head. ROWS-1 */
  async take(pieces: readonly Uint8Array[]): Promise<void> {
    for (let from = 0; from < pieces.length;) {
      let to = from;
      let bytes = 0;
      let lines = 0;
      const ats: number[] = [];
      while (to < pieces.length && (this.isOneTurn || (bytes < TURN_BYTES_MAX && lines < TURN_LINES_MAX))) {
        const piece = pieces[to++] as Uint8Array;
        lines += startsOf(piece, this.head.offset + bytes, ats);
        bytes += piece.length;
      }
      await this.sendTurn(Buffer.concat(pieces.slice(from, to)), ats);
      from = to;
    }
    this.isOneTurn = false;
  }

  private async sendTurn(lines: Buffer, ats: readonly number[]): Promise<void> {
    if (this.isClosed) throw new Error(`run ${this.options.ref.run} is closed`);
    const { sql, timeoutMs, onEnded, lease } = this.options;
    // The server compares the head only, so lines that don't follow on it would be taken as well.
    if (firstSeq(lines) !== this.head.seq) throw new Error(`event ${firstSeq(lines)} does not follow on ${this.head.seq} events`);
    const { refusals } = this;
    const turn = { head: this.head, lines, ats, refusals, timeoutMs, onEnded };
    const row = await this.begin();
    const sent = momentNow();
    const appended = appendTurn(sql, row, turn);
    const released = endsRun(lines) ? release(sql, row, { onlyFinished: true, timeoutMs }) : undefined; // ROWS-5
    released?.catch(() => undefined); // the first error is the one to report
    this.head = await appended.catch(async (error: unknown) => {
      throw await this.explained(error);
    });
    lease.acknowledged(sent);
    this.wasReleased = (await released?.catch(() => false)) ?? false;
  }

  /** True when what the run holds of others was given back with its last lines. ROWS-5 */
  get isReleased(): boolean {
    return this.wasReleased;
  }

  /** Gives back what the run holds of others, whatever its lines are. */
  async release(): Promise<void> {
    if (this.made === undefined) return;
    const { sql, timeoutMs } = this.options;
    await release(sql, this.made, { onlyFinished: false, timeoutMs });
  }

  /** The head may be another one because the turn before was done although its answer was lost: then `recover` finds it so. */
  private async explained(error: unknown): Promise<unknown> {
    if (stateBehind(error) !== OTHER_HEAD_STATE) return this.refusal(error);
    return new JournalError('STORE_UNREACHABLE', 'the store has more of the run than it has answered', { cause: (error as Error).cause });
  }

  /** The server says of a run that is not there what it says of one that was sealed. Returns other errors as they are. */
  async refusal(error: unknown): Promise<unknown> {
    if (stateBehind(error) !== SEALED_STATE || this.made === undefined) return error;
    return (await this.lost()) ?? this.sealed();
  }

  /** STORE_WENT_BACK where the store had the run and has it no longer. An older state gives its number to another run. */
  async lost(): Promise<JournalError | undefined> {
    if (this.made === undefined) return undefined;
    const { sql, timeoutMs, ref } = this.options;
    const found = await sql
      .query('select 1 as one from mlld.runs where run_id = $1 and run = $2', [this.made.id, ref.run], timeoutMs)
      .catch(() => undefined);
    return found?.length === 0 ? this.wentBack('the run is not there any more') : undefined;
  }

  sealed(): JournalError {
    const { run, workflow } = this.options.ref;
    return new JournalError('STORE_SEALED', `run ${run} of ${workflow} was sealed: this process may not go on with it`, {
      hint: 'another process took the run while this one did not answer; mlld run begins a new one, which reuses what is recorded',
    });
  }

  private wentBack(what: string): JournalError {
    const { run, workflow } = this.options.ref;
    return new JournalError('STORE_WENT_BACK', `the store has lost what it had recorded of run ${run} of ${workflow}: ${what}`, {
      hint: 'an older state of the database was restored, or another server took over; ask who runs it, then run again',
    });
  }
}

/** Asks for no columns and no row. To read a row that says nothing cost this process more than to write the statement. */
const APPEND = 'select where mlld.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) is null';

interface Turn {
  readonly head: Head;
  /** Whole lines. */
  readonly lines: Buffer;
  /** The offset of each. */
  readonly ats: readonly number[];
  /** Absent: the results in the lines don't compete. */
  readonly refusals?: Refusals;
  readonly timeoutMs?: number;
  /** Called when the lines are committed, and end calls or the run. */
  readonly onEnded?: (() => void) | undefined;
}

/** ROWS-1, ROWS-4. Returns the head behind the lines. */
export async function appendTurn(sql: Sql, { id, fence }: RunRow, turn: Turn): Promise<Head> {
  const { head, lines, ats, refusals, timeoutMs, onEnded } = turn;
  const text = lines.toString('latin1', 0, lines.length - 1);
  const next: Head = { offset: head.offset + lines.length, seq: head.seq + ats.length, hash: hashBehind(lines) };
  const isEnd = endsRun(lines);
  const ends = refusals === undefined ? NO_ENDS : endsInLines(lines, text, ats, refusals);
  const digests = [...digestsIn(text)];
  const append = ({ results, ended }: ToldEnds): Promise<unknown> => {
    // The lines go as the bytes that they are, and the offsets as text: `pg` would encode all of it anew, and quote each number.
    const values = [id, fence, head.seq, head.hash, lines.subarray(0, -1), `{${ats.join()}}`, next.offset, next.hash, isEnd];
    return sql.query(APPEND, [...values, digests, results, ended], timeoutMs);
  };
  const plain = plainEnds(ends);
  try {
    await append(plain ?? describedEnds(ends)).catch((error: unknown) => {
      if (plain === undefined || stateBehind(error) !== NOT_UNIQUE_STATE) throw error;
      return append(describedEnds(ends)); // PLAIN-END-1
    });
  } catch (error) {
    throw stateBehind(error) === LATE_RESULT_STATE ? late(error, ends.results) : error;
  }
  if (isEnd || ends.ended.length > 0) onEnded?.();
  return next;
}

/** Resolves with false where nothing was to be released. */
async function release(
  sql: Sql,
  { id, fence }: RunRow,
  { onlyFinished, timeoutMs }: { readonly onlyFinished: boolean; readonly timeoutMs: number },
): Promise<boolean> {
  const gone = await sql.query(
    `with gone as (update mlld.runs set lease_until = '-infinity' where run_id = $1 and fence = $2 and (finished or not $3) returning run_id)
     , offered as (delete from mlld.offers o using gone where o.run_id = gone.run_id)
     , claimed as (delete from mlld.claims c using gone where c.run_id = gone.run_id)
     select 1 from gone`,
    [id, fence, onlyFinished],
    timeoutMs,
  );
  return gone.length > 0;
}

function late(error: unknown, results: readonly CompetingResult[]): Error {
  const { detail } = (error as { readonly cause: { readonly detail: string } }).cause; // ML003 has it
  return lateResults(detail, results);
}

/** True when everything acknowledged is before the head, and the head is the end of one of our pieces. ROWS-3 */
function isOurs(unsynced: Unsynced, head: Head): boolean {
  if (head.offset === unsynced.start) return head.hash === unsynced.hashBefore;
  return unsynced
    .from(unsynced.start)
    .some(({ offset, bytes, hash }: Piece) => offset + bytes.length === head.offset && hash === head.hash);
}
