/**
 * Reads results of a run together with those that lie behind them: a run that reuses ten thousand results would make as many round trips.
 *
 * READ-AHEAD-1 A result is fetched with a page of its run. Once a few results of a page were used, the two pages behind it are asked for,
 *    so that one is on its way while another one is read. A page is four times as large as the one before as long as results of it are
 *    used, and half as large when few were: an order that jumps reads little more than it needs.
 * READ-AHEAD-2 Pages are few, of limited size, and held for a short time, because another process may redact a run that this one only
 *    reads.
 *    So are results that were fetched with something else and are read soon.
 * READ-AHEAD-3 A result is verified as a single read verifies it: by its length, and by the hash of the line before it.
 * READ-AHEAD-4 A page behind others holds events of the types that were read of the run: a run that reuses results reads no effects. The
 *    first event of another type is read alone, and later pages hold its type as well.
 * READ-AHEAD-5 Results of pages that are there need nothing of the event loop, which gets a turn after some of them all the same: what the
 *    run records would otherwise be sent, and kept in memory, only behind the last of them.
 */
import type { JournalEvent } from '../event.js';
import type { RunRef } from '../ids.js';
import type { Position } from '../store.js';
import type { Row, Sql } from './connection.js';
import { eventOf, LINE_END, readRowAt } from './read-rows.js';

const PAGE_BYTES_MIN = 32 * 1024;
const PAGE_BYTES_FIRST = 64 * 1024;
const PAGE_BYTES_MAX = 2 * 1024 * 1024;
const PAGES_MAX = 6;
/** Larger ones are read alone and not held. */
export const HELD_LINE_BYTES_MAX = 64 * 1024;
const HELD_MS = 5000;
/** A page was worth it when so many results of it were used. */
const USED_MIN = 4;
const GROWTH = 4;
const PAGES_AHEAD = 2;
const READS_BETWEEN_TURNS = 16;
/** The type is this part of a line, between quotes, and ends within so many characters. */
const TYPE_PART = 8;
const TYPE_WITHIN = 64;

interface Page {
  /** Offsets in the run. */
  readonly from: number;
  readonly to: number;
  /** Results, and what else is read by its place, by their offset. */
  readonly rows: Promise<ReadonlyMap<number, Row>>;
  readonly fetchedMs: number;
  used: number;
}

interface ReadRun {
  /** In the order in which they were fetched. */
  pages: Page[];
  /** Types of events that were read. READ-AHEAD-4 */
  readonly types: Set<string>;
  pageBytes: number;
}

/** Reads of so many runs are followed; a run reuses results of a few. */
const RUNS_MAX = 64;
const LOOSE_MAX = 1000;

export class ReadAhead {
  private readonly runs = new Map<string, ReadRun>();
  private readonly loose = new Map<string, { readonly row: Row; readonly heldMs: number }>();
  private reads = 0;

  constructor(
    private readonly sql: Sql,
    private readonly project: string,
  ) {}

  /** Does what `readRowAt` does. */
  async readAt(ref: RunRef, position: Position): Promise<JournalEvent | undefined> {
    if (++this.reads % READS_BETWEEN_TURNS === 0) await new Promise(setImmediate); // READ-AHEAD-5
    const held = this.loose.get(nameOfLine(ref, position));
    if (held !== undefined && held.heldMs >= performance.now() - HELD_MS) return eventOf(held.row, position); // READ-AHEAD-3
    const run = this.runOf(ref);
    if (position.bytes <= HELD_LINE_BYTES_MAX) {
      const page = this.pageAt(ref, run, position.offset);
      const row = (await page.rows).get(position.offset);
      if (row !== undefined) {
        run.types.add(typeOf(String(row['line'])));
        return eventOf(row, position); // READ-AHEAD-3
      }
      page.used--;
    }
    const event = await readRowAt(this.sql, this.project, ref, position);
    if (event !== undefined && TYPES.includes(event.type) && !run.types.has(event.type)) {
      run.types.add(event.type);
      run.pages = []; // READ-AHEAD-4
    }
    return event;
  }

  /** `row` has the line, and the end of the line before it. READ-AHEAD-2 */
  hold(ref: RunRef, position: Position, row: Row): void {
    const nowMs = performance.now();
    this.loose.set(nameOfLine(ref, position), { row, heldMs: nowMs });
    for (const [place, { heldMs }] of this.loose) {
      if (this.loose.size <= LOOSE_MAX && heldMs >= nowMs - HELD_MS) break;
      this.loose.delete(place);
    }
  }

  private runOf({ workflow, run }: RunRef): ReadRun {
    const name = `${run} ${workflow}`;
    const known = this.runs.get(name) ?? { pages: [], types: new Set(), pageBytes: PAGE_BYTES_FIRST };
    this.runs.delete(name);
    this.runs.set(name, known); // the latest is the last
    const [oldest] = this.runs.keys();
    if (this.runs.size > RUNS_MAX && oldest !== undefined) this.runs.delete(oldest);
    return known;
  }

  private pageAt(ref: RunRef, run: ReadRun, offset: number): Page {
    const held = pageWith(run, offset);
    const page = held ?? this.fetch(ref, run, missed(run, offset));
    if (++page.used >= USED_MIN) this.fetchBehind(ref, run, page);
    return page;
  }

  /** READ-AHEAD-1 */
  private fetchBehind(ref: RunRef, run: ReadRun, page: Page): void {
    let last = page;
    for (let ahead = 0; ahead < PAGES_AHEAD; ahead++) {
      let next = pageWith(run, last.to);
      if (next === undefined) {
        run.pageBytes = Math.min(GROWTH * run.pageBytes, PAGE_BYTES_MAX);
        next = this.fetch(ref, run, last.to);
      }
      last = next;
    }
  }

  private fetch({ workflow, run: id }: RunRef, run: ReadRun, from: number): Page {
    const to = from + run.pageBytes;
    const types = run.types.size === 0 ? TYPES : [...run.types];
    const rows = this.sql.query(RESULTS, [this.project, workflow, id, from, to, HELD_LINE_BYTES_MAX, types]);
    const byOffset = rows.then((found) => new Map(found.map((row) => [Number(row['at']), row])));
    const page: Page = { from, to, rows: byOffset, fetchedMs: performance.now(), used: 0 };
    byOffset.catch(() => (run.pages = run.pages.filter((other) => other !== page))); // who waits for it learns of the error
    run.pages = [...run.pages.slice(1 - PAGES_MAX), page];
    return page;
  }
}

function nameOfLine({ workflow, run }: RunRef, { offset }: Position): string {
  return `${offset} ${run} ${workflow}`;
}

/** READ-AHEAD-2 */
function pageWith(run: ReadRun, offset: number): Page | undefined {
  const oldestMs = performance.now() - HELD_MS;
  if (run.pages.some(({ fetchedMs }) => fetchedMs < oldestMs)) run.pages = run.pages.filter(({ fetchedMs }) => fetchedMs >= oldestMs);
  return run.pages.findLast(({ from, to }) => from <= offset && offset < to);
}

/** Returns where a page for a result begins that no page has: behind the page before it, as long as that is near. */
function missed(run: ReadRun, offset: number): number {
  const last = run.pages.at(-1);
  if (last !== undefined && last.used < USED_MIN) run.pageBytes = Math.max(run.pageBytes / 2, PAGE_BYTES_MIN);
  const before = Math.max(0, ...run.pages.map(({ to }) => to).filter((to) => to <= offset));
  return offset - before < run.pageBytes / 2 ? before : offset;
}

/** Types of events that runs and replays read by their place. */
const TYPES: readonly string[] = ['call.completed', 'call.reused', 'effect.performed'];
const typeOf = (line: string): string => line.slice(0, TYPE_WITHIN).split('"', TYPE_PART)[TYPE_PART - 1] ?? '';

/** A line begins with three members, `{"v":1,"seq":1,"type":"…"`: a pattern costs more. */
const RESULTS = `select e.at::float8 as at, e.line, e.before
  from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
  cross join lateral (select at, line, lag(right(line, ${LINE_END})) over (order by at) as before from mlld.events
    where run_id = r.run_id and at < $5
      and at >= coalesce((select max(at) from mlld.events where run_id = r.run_id and at < $4), 0)) e
  where p.name = $1 and w.path = $2 and r.run = $3 and e.at >= $4
    and split_part(left(e.line, ${TYPE_WITHIN}), '"', ${TYPE_PART}) = any ($7::text[]) and octet_length(e.line) <= $6`;
