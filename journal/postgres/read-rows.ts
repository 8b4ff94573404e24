/** Reads runs of a project out of the database, verified as those of files are. */
import { CHAIN_SEED, PREDECESSOR_BYTES } from '../codec.js';
import type { JournalEvent } from '../event.js';
import { isImplausible, isRunId, type RunId, type RunRef, type Workflow } from '../ids.js';
import { endOfRun } from '../lines/end-of-run.js';
import { LineBuffer, NEWLINE, type Flaw } from '../lines/line-buffer.js';
import { scanPages, type Page, type Visit } from '../reader.js';
import type { Position, RunFile, RunLiveness, ScanOptions, ScanReport } from '../store.js';
import type { Row, Sql } from './connection.js';
import { existsHere, hasDied } from './writer-process.js';

/** Events are read by ranges of offsets. So many ranges are on their way at a time, because each may be a round trip far away. */
const RANGE_BYTES = 1024 * 1024;
const RANGES_AHEAD = 8;
/** So many ranges without a line, and the server is asked where the next one is: a length that SQL has written may be any number. */
const EMPTY_RANGES_MAX = 8;
/** The end of a line: its hash, a quote and a brace. */
export const LINE_END = 66;
const NOTHING = Buffer.alloc(0);

const RUN = `from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
  where p.name = $1 and w.path = $2`;

const RANGE = `select r.bytes::float8 as size, e.at::float8 as at, e.line ${RUN.replace(
  'where',
  `left join lateral
  (select at, line from mlld.events where run_id = r.run_id and at >= $4 and at < $4 + $5 order by at limit $6) e on true where`,
)}
  and r.run = $3 order by e.at`;

const NEXT_LINE = `select min(e.at)::float8 as at ${RUN.replace('where', 'join mlld.events e on e.run_id = r.run_id and e.at >= $4 where')}
  and r.run = $3`;

export async function scanRows(sql: Sql, project: string, ref: RunRef, visit: Visit, options: ScanOptions = {}): Promise<ScanReport> {
  return scanPages(ref, visit, options, pagesOf(sql, project, ref, options));
}

/** The first answer says how long the run is. */
async function* pagesOf(sql: Sql, project: string, { workflow, run }: RunRef, { from, eventsMax }: ScanOptions): AsyncGenerator<Page> {
  const ask = (offset: number): Promise<readonly Row[]> => {
    const rows = sql.query(RANGE, [project, workflow, run, offset, RANGE_BYTES, eventsMax ?? null]);
    rows.catch(() => undefined); // it is awaited later, or not any more
    return rows;
  };
  const start = from?.offset ?? 0;
  const asked = [ask(start)];
  let size: number | undefined;
  let reached = start;
  let empty = 0;
  for (let next = start + RANGE_BYTES; asked.length > 0;) {
    const rows = (await asked.shift()) as readonly Row[];
    if (size === undefined) {
      size = Number(rows[0]?.['size'] ?? 0);
      if (size < start) yield { offset: size, lines: NOTHING };
    }
    const lines = rows
      .filter(({ at }) => at !== null)
      .map(({ at, line }) => ({ at: Number(at), line: Buffer.from(`${line as string}\n`) }));
    const last = lines.at(-1);
    if (last !== undefined) reached = last.at + last.line.length;
    if (eventsMax !== undefined && lines.length === eventsMax) next = reached; // the rest of the range was left out
    empty = lines.length === 0 ? empty + 1 : 0;
    if (empty >= EMPTY_RANGES_MAX && next < size) {
      const [found] = await sql.query(NEXT_LINE, [project, workflow, run, next]);
      next = Number(found?.['at'] ?? size);
    }
    for (const ahead = eventsMax === undefined ? RANGES_AHEAD : 1; asked.length < ahead && next < size; next += RANGE_BYTES)
      asked.push(ask(next));
    yield* piecesOf(lines);
  }
  if (size !== undefined && reached < size) yield { offset: size, lines: NOTHING };
}

/** Lines that lie behind each other are one piece. */
function* piecesOf(lines: readonly { readonly at: number; readonly line: Buffer }[]): Generator<Page> {
  for (let first = 0; first < lines.length;) {
    const offset = (lines[first] as { at: number }).at;
    let end = offset;
    let behind = first;
    for (; lines[behind]?.at === end; behind++) end += (lines[behind] as { line: Buffer }).line.length;
    yield { offset, lines: Buffer.concat(lines.slice(first, behind).map(({ line }) => line)) };
    first = behind;
  }
}

/** Undefined when no event of this length is there, or it has changed. */
export async function readRowAt(
  sql: Sql,
  project: string,
  { workflow, run }: RunRef,
  { offset, bytes }: Position,
): Promise<JournalEvent | undefined> {
  const rows = await sql.query(
    `select e.at::float8 as at, e.line ${RUN.replace(
      'where',
      `cross join lateral
      (select at, case when at = $4 then line else right(line, ${LINE_END}) end as line
       from mlld.events where run_id = r.run_id and at <= $4 order by at desc limit 2) e where`,
    )}
      and r.run = $3 order by e.at desc`,
    [project, workflow, run, offset],
  );
  const [row, before] = rows;
  if (row === undefined || Number(row['at']) !== offset) return undefined;
  return eventOf({ line: row['line'], before: before?.['line'] }, { bytes });
}

/** Undefined for a line that has changed. `before` is the end of the line before it, absent for the first one. */
export function eventOf({ line, before }: Row, { bytes }: Pick<Position, 'bytes'>): JournalEvent | undefined {
  if (Buffer.byteLength(String(line)) !== bytes) return undefined;
  return usable(decodeLine(String(line), hashAtEnd(before)));
}

interface ListPorts {
  readonly reader: Sql;
  readonly side: Sql;
  readonly project: string;
  /** The clock of the server, once it has answered. */
  readonly nowMs: () => number;
  /** Called for each row that is left out. */
  readonly onSkipped?: ((run: RunRef) => void) | undefined;
}

/** A run is made by its id: one that is no time that a clock shows was written by somebody's SQL, and would end whatever counts with it. */
function isSkipped({ nowMs, onSkipped }: ListPorts, ref: RunRef): boolean {
  if (isRunId(ref.run) && !isImplausible(ref.run, nowMs())) return false;
  onSkipped?.(ref);
  return true;
}

/**
 * Oldest first. A process of this machine that is gone keeps no run alive: its leases are given back, where that is allowed. A row whose
 * name is not that of a run is left out, as a file would be: names of runs become names of files, and anybody's SQL may have written it.
 */
export async function listRows(ports: ListPorts, workflow: Workflow): Promise<readonly RunFile[]> {
  const { reader, side, project } = ports;
  const found = await reader.query(
    `select r.run, r.bytes::float8 as bytes, r.finished, mlld.is_alive(r.lease_until, r.lease_s) as alive, r.role, r.process,
      r.run_id::text as id, r.fence,
      case when r.role = 'worker' and r.next_seq = 0 then (select o.run from mlld.runs o where o.run_id = r.of_run) end as serves,
      case when r.role = 'worker' and r.next_seq = 0 then r.worker ->> 'name' end as worker,
      case when r.finished then (select line from mlld.events where run_id = r.run_id order by at desc limit 1) end as last,
      case when r.finished
        then (select right(line, ${LINE_END}) from mlld.events where run_id = r.run_id order by at desc offset 1 limit 1) end as before,
      case when not r.finished then (select left(line, 24) from mlld.events where run_id = r.run_id and at = 0) end as first
      ${RUN} order by r.run collate "C"`,
    [project, workflow],
  );
  const rows = found.filter(({ run }) => !isSkipped(ports, { workflow, run: run as RunId }));
  const left = rows.filter((row) => row['alive'] === true && row['finished'] !== true && hasDied(row['process']));
  if (left.length > 0) {
    await side
      .query(
        `update mlld.runs r set lease_until = '-infinity' from unnest($1::bigint[], $2::int[]) as left_by_dead (run_id, fence)
         where r.run_id = left_by_dead.run_id and r.fence = left_by_dead.fence`,
        [left.map(({ id }) => id), left.map(({ fence }) => fence)],
      )
      .catch(() => undefined); // a reader may not: then they run out
  }
  return rows.map((row) => runFile(workflow, row));
}

/** Lines that one answer of the server holds: a first line may hold a payload. */
const FIRST_LINES_MAX = 500;

/** Undefined where no workflow of the project has the run. */
export async function findRun(ports: ListPorts, run: RunId): Promise<RunRef | undefined> {
  const [found] = await ports.reader.query(
    `select w.path from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
     where p.name = $1 and r.run = $2`,
    [ports.project, run],
  );
  const ref = found && { workflow: found['path'] as Workflow, run };
  return ref && (isSkipped(ports, ref) ? undefined : ref);
}

export async function firstRows(
  sql: Sql,
  project: string,
  workflow: Workflow,
  runs: readonly RunId[],
): Promise<ReadonlyMap<RunId, JournalEvent>> {
  const found = new Map<RunId, JournalEvent>();
  for (let from = 0; from < runs.length; from += FIRST_LINES_MAX) {
    const rows = await sql.query(
      `select r.run, e.line ${RUN.replace('where', 'join mlld.events e on e.run_id = r.run_id and e.at = 0 where')} and r.run = any ($3::text[])`,
      [project, workflow, runs.slice(from, from + FIRST_LINES_MAX)],
    );
    for (const { run, line } of rows) {
      const event = usable(decodeLine(String(line), CHAIN_SEED));
      if (event !== undefined) found.set(run as RunId, event);
    }
  }
  return found;
}

function runFile(workflow: Workflow, row: Row): RunFile {
  const ref = { workflow, run: row['run'] as RunId };
  const bytes = Number(row['bytes']);
  const last = typeof row['last'] === 'string' ? usable(decodeLine(row['last'], hashAtEnd(row['before']))) : undefined;
  const role = {
    ...(Number(row['fence']) > 0 && { fence: Number(row['fence']) }),
    ...(row['role'] === 'salvage' && { isSalvage: true as const }),
    ...(row['role'] === 'worker' && { isWorker: true as const }),
    ...(typeof row['serves'] === 'string' && { madeFor: { for: row['serves'] as RunId, name: String(row['worker'] ?? '') } }),
  };
  const finished = endOfRun(last);
  if (finished !== undefined) return { ref, liveness: 'finished', bytes, finished, ...role };
  const isAlive = row['alive'] === true && row['finished'] !== true && !hasDied(row['process']);
  const liveness: RunLiveness = isAlive ? 'running' : 'crashed';
  const asleep = !isAlive && existsHere(row['process']) === true ? { isAsleep: true as const } : {};
  return { ref, liveness, bytes, ...role, ...asleep, ...(isUnknown(row['first']) && { isOfUnknownVersion: true as const }) };
}

/** True when the beginning of a run's first line has a version that this program doesn't know. */
function isUnknown(beginning: unknown): boolean {
  return typeof beginning === 'string' && decodeLine(`${beginning}${' '.repeat(100)}`, CHAIN_SEED) === 'unknown-version';
}

/** `line` has no newline. */
export function decodeLine(line: string, previousHash: string): JournalEvent | Flaw {
  const bytes = Buffer.from(`${line}\n`);
  const buffer = new LineBuffer(bytes.length);
  buffer.follow(previousHash);
  bytes.copy(buffer.bytes, PREDECESSOR_BYTES);
  buffer.bytes[PREDECESSOR_BYTES + bytes.length - 1] = NEWLINE;
  return buffer.decode(PREDECESSOR_BYTES, PREDECESSOR_BYTES + bytes.length - 1);
}

/** Before the first line there is the seed of the chain. */
function hashAtEnd(line: unknown): string {
  return typeof line === 'string' ? line.slice(-LINE_END, -2) : CHAIN_SEED;
}

function usable(event: JournalEvent | Flaw): JournalEvent | undefined {
  return typeof event === 'string' ? undefined : event;
}
