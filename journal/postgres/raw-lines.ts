/** Reads the lines of a run as they are, and changes some of them, each at the offset that it has in the equivalent file. */
import { NEWLINE } from '../lines/line-buffer.js';
import type { Sql } from './connection.js';

const PAGE_ROWS = 2000;

export interface RawLine {
  readonly at: number;
  /** Without its newline. */
  readonly line: string;
}

/** Each line takes the place of the one that begins at the same offset. */
export type ChangedLines = ReadonlyMap<number, string>;

/** `id` is that of the row in `runs`. */
export async function* rawLines(sql: Sql, id: string): AsyncGenerator<RawLine> {
  for (let from = 0; ;) {
    const rows = await sql.query(
      `select at::float8 as at, line from mlld.events where run_id = $1 and at >= $2 order by at limit ${PAGE_ROWS}`,
      [id, from],
    );
    for (const { at, line } of rows) yield { at: Number(at), line: String(line) };
    if (rows.length < PAGE_ROWS) return;
    from = Number(rows.at(-1)?.['at']) + 1;
  }
}

/** Returns the bytes of the file that the lines would be, with the changed ones in the place of theirs. */
export async function bytesOf(sql: Sql, id: string, changed: ChangedLines = new Map()): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { at, line } of rawLines(sql, id)) parts.push(Buffer.from(`${changed.get(at) ?? line}\n`));
  return Buffer.concat(parts);
}

/** Writes the changed lines, and moves those behind them. Returns the bytes that the run grew by. Must be called in a transaction. */
export async function writeChanged(sql: Sql, id: string, changed: ChangedLines): Promise<number> {
  const ats = [...changed.keys()].sort((left, right) => left - right);
  const [first] = ats;
  if (first === undefined) return 0;
  const lengths = await sql.query(
    'select at::float8 as at, octet_length(line) as bytes from mlld.events where run_id = $1 and at = any ($2::bigint[]) order by at',
    [id, ats],
  );
  const froms: number[] = [];
  const moves: number[] = [];
  let moved = 0;
  for (const row of lengths) {
    moved += Buffer.byteLength(changed.get(Number(row['at'])) ?? '') - Number(row['bytes']);
    froms.push(Number(row['at']) + 1);
    moves.push(moved);
  }
  await sql.query(
    `update mlld.events e set line = c.line from unnest($2::bigint[], $3::text[]) as c (at, line) where e.run_id = $1 and e.at = c.at`,
    [id, ats, ats.map((at) => changed.get(at))],
  );
  // By way of negative offsets, so that no line ever takes the place of one that has not moved yet.
  await sql.query('update mlld.events set at = -1 - at where run_id = $1 and at > $2', [id, first]);
  await sql.query(
    `update mlld.events e set at = -1 - e.at + m.bytes
     from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as m (first, behind, bytes)
     where e.run_id = $1 and e.at <= -1 - m.first and e.at > -1 - m.behind`,
    [id, froms, [...froms.slice(1), Number.MAX_SAFE_INTEGER], moves],
  );
  return moved;
}

/** Splits whole lines into pieces of at most so many bytes or lines, or one line. */
export function* piecesOf(lines: Buffer, { bytes, count }: { readonly bytes: number; readonly count: number }): Generator<Buffer> {
  let start = 0;
  let end = 0;
  let held = 0;
  while (end < lines.length) {
    const next = lines.indexOf(NEWLINE, end) + 1;
    if (held > 0 && (next - start > bytes || held >= count)) {
      yield lines.subarray(start, end);
      start = end;
      held = 0;
    }
    end = next;
    held++;
  }
  if (end > start) yield lines.subarray(start, end);
}
