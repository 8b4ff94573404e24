/**
 * Takes the lines of a run into the database.
 *
 * ROWS-1 A turn (whole pieces of the writer's queue) is one transaction that moves the run's head and adds the lines; it is refused
 *    unless fence, number and hash of the head are those that it follows on. So lines are there whole, once, in order, or not at all: a
 *    kill, here or of the server, leaves the run at the end of a turn.
 * ROWS-2 A turn whose answer did not arrive may have been done. `recover` asks for the head and sends only what is behind it.
 * ROWS-3 A raised fence means that somebody has sealed the run: nothing more is sent (STORE_SEALED). A head that is none of ours means that
 *    the database went back in time (STORE_WENT_BACK).
 */
import { CHAIN_SEED, HASH_DIGITS, isEndOfRun, TAIL_BYTES } from '../codec.js';
import { JournalError } from '../errors.js';
import type { RunRef } from '../ids.js';
import { NEWLINE } from '../line-buffer.js';
import type { Piece, Unsynced } from '../unsynced.js';
import type { Sql } from './connection.js';
import { OTHER_HEAD_STATE, SEALED_STATE, stateBehind } from './store-errors.js';

/** A turn ends behind the piece that reaches this many bytes or lines. A piece is at most 256 KB, or one line. */
export const TURN_BYTES_MAX = 4 * 1024 * 1024;
export const TURN_LINES_MAX = 5000;
/** The end of a line: its hash, a quote and a brace. */
const LINE_END = HASH_DIGITS + 2;
const DIGEST_IN_LINE = /"(sha256:[0-9a-f]{64})"/g;

export interface Head {
  readonly offset: number;
  /** The number of the next line. */
  readonly seq: number;
  readonly hash: string;
}

export const NO_LINES: Head = { offset: 0, seq: 0, hash: CHAIN_SEED };

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
}

export class RunRows {
  private made: RunRow | undefined;
  /** The end of what the database has of the run, as far as its answers say. */
  private head: Head;
  private isClosed = false;

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

  get headNow(): Head {
    return this.head;
  }

  /** ROWS-2 */
  async recover(unsynced: Unsynced): Promise<void> {
    const { id, fence } = await this.begin();
    const [found] = await this.options.sql.query(
      'select fence, next_seq as seq, bytes::float8 as offset, hash from mlld.runs where run_id = $1',
      [id],
      this.options.timeoutMs,
    );
    if (found === undefined) throw this.wentBack('the run is not there any more');
    if (found['fence'] !== fence) throw this.sealed();
    const head: Head = { offset: Number(found['offset']), seq: Number(found['seq']), hash: String(found['hash']) };
    if (!isOurs(unsynced, head)) throw this.wentBack(`it holds ${head.offset} bytes, and ${unsynced.start} were acknowledged`);
    this.head = head;
    await this.take(unsynced.from(head.offset).map(({ bytes }) => bytes));
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
      while (to < pieces.length && bytes < TURN_BYTES_MAX && lines < TURN_LINES_MAX) {
        const piece = pieces[to++] as Uint8Array;
        lines += startsOf(piece, this.head.offset + bytes, ats);
        bytes += piece.length;
      }
      await this.sendTurn(Buffer.concat(pieces.slice(from, to)), ats);
      from = to;
    }
  }

  private async sendTurn(lines: Buffer, ats: readonly number[]): Promise<void> {
    if (this.isClosed) throw new Error(`run ${this.options.ref.run} is closed`);
    const { sql, timeoutMs } = this.options;
    // The server compares the head only, so lines that don't follow on it would be taken as well.
    if (firstSeq(lines) !== this.head.seq) throw new Error(`event ${firstSeq(lines)} does not follow on ${this.head.seq} events`);
    this.head = await appendTurn(sql, await this.begin(), { head: this.head, lines, ats, timeoutMs }).catch((error: unknown) => {
      throw this.explained(error);
    });
  }

  /** The head may be another one because the turn before was done although its answer was lost: then `recover` finds it so. */
  private explained(error: unknown): unknown {
    if (stateBehind(error) === SEALED_STATE) return this.sealed();
    if (stateBehind(error) !== OTHER_HEAD_STATE) return error;
    return new JournalError('STORE_UNREACHABLE', 'the store has more of the run than it has answered', { cause: (error as Error).cause });
  }

  private sealed(): JournalError {
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

interface Turn {
  readonly head: Head;
  /** Whole lines. */
  readonly lines: Buffer;
  /** The offset of each. */
  readonly ats: readonly number[];
  readonly timeoutMs?: number;
}

/** ROWS-1. Returns the head behind the lines. */
export async function appendTurn(sql: Sql, { id, fence }: RunRow, { head, lines, ats, timeoutMs }: Turn): Promise<Head> {
  const text = lines.toString('utf8', 0, lines.length - 1);
  const next: Head = { offset: head.offset + lines.length, seq: head.seq + ats.length, hash: hashBehind(lines) };
  const isEnd = isEndOfRun(text.slice(text.lastIndexOf('\n') + 1));
  await sql.query(
    'select mlld.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
    [id, fence, head.seq, head.hash, text, ats, next.offset, next.hash, isEnd, [...digestsIn(text)]],
    timeoutMs,
  );
  return next;
}

/** Returns what lines name that may be a blob. */
export function digestsIn(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(DIGEST_IN_LINE), (match) => match[1] as string));
}

/** True when everything acknowledged is before the head, and the head is the end of one of our pieces. ROWS-3 */
function isOurs(unsynced: Unsynced, head: Head): boolean {
  if (head.offset === unsynced.start) return head.hash === unsynced.hashBefore;
  return unsynced
    .from(unsynced.start)
    .some(({ offset, bytes, hash }: Piece) => offset + bytes.length === head.offset && hash === head.hash);
}

/** Adds the offset of each line, and returns how many there are. */
export function startsOf(piece: Uint8Array, offset: number, ats: number[]): number {
  let lines = 0;
  for (let start = 0; start < piece.length; start = piece.indexOf(NEWLINE, start) + 1) {
    ats.push(offset + start);
    lines++;
  }
  return lines;
}

const SEQ_OF_LINE = /^\{"v":\d+,"seq":(\d+)[,}]/;

/** Returns the number of the first of whole lines. */
export function firstSeq(lines: Uint8Array): number {
  const beginning = Buffer.from(lines.buffer, lines.byteOffset, Math.min(lines.length, 64)).toString('latin1');
  return Number(SEQ_OF_LINE.exec(beginning)?.[1]);
}

/** Returns the hash that a line without its newline ends with, even when the line is damaged. */
export const hashOfLine = (line: string): string => line.slice(-LINE_END, -2);

/** Returns the hash of the last of whole lines, which ends with `"hash":"…"}` and its newline. */
export function hashBehind(lines: Uint8Array): string {
  const start = lines.length - TAIL_BYTES - 1 + ',"hash":"'.length;
  return Buffer.from(lines.buffer, lines.byteOffset + start, HASH_DIGITS).toString('latin1');
}
