/**
 * One tier of the index: rows sorted by the keys of their calls, in a file that never changes. The file is pages of some 8 KB, and at its
 * end the first key and the digest of each page. A look-up reads one page.
 *
 * TIER-1 no byte is used that does not fit its digest: the digest of the end is in the index, those of the pages are in the end
 * TIER-2 a page holds the texts that its rows refer to, so it is read without any other
 */
import { sha256Hex } from '../../../journal/sha256.js';
import type { CallKey, Workflow } from '../../../journal/ids.js';
import { bufferOf } from '../../../journal/lines/line-buffer.js';
import type { IndexFile, IndexFiles } from '../../../journal/store.js';
import { beginningOf, decodeRow, decodeRows, encodeRow, encodeTables, newTables, type ReadTables, type Row } from './row.js';

const PAGE_UNITS = 8 * 1024;
/** Pages that are held, unless so many are read that holding all of them costs less. */
const HELD_PAGES_MAX = 256;
/** Enough that no page is taken for another one. */
const DIGEST_DIGITS = 24;
const NEWLINE = 0x0a;

/** Describes a tier in the index. */
export interface TierInfo {
  readonly name: string;
  readonly rows: number;
  readonly pagesBytes: number;
  readonly endBytes: number;
  /** The digest of the end. */
  readonly digest: string;
}

interface End {
  /** The first key of each page. */
  readonly firsts: readonly CallKey[];
  /** The offset behind each page. */
  readonly ends: readonly number[];
  readonly digests: readonly string[];
}

/** Thrown when a page is not what was written, or can't be read. */
export class DamagedTier extends Error {}

function digestOf(bytes: Uint8Array): string {
  return sha256Hex(bytes).slice(0, DIGEST_DIGITS);
}

/** Writes rows, which must be sorted by their keys. */
export async function writeTier(files: IndexFiles, workflow: Workflow, rows: Iterable<Row>): Promise<TierInfo> {
  const [firsts, ends, digests]: [CallKey[], number[], string[]] = [[], [], []];
  let [count, pagesBytes, endBytes, digest] = [0, 0, 0, ''];
  function* pieces(): Generator<Uint8Array> {
    for (const page of pagesOf(rows)) {
      const bytes = Buffer.from(page.text);
      pagesBytes += bytes.length;
      count += page.rows;
      firsts.push(page.first);
      ends.push(pagesBytes);
      digests.push(digestOf(bytes));
      yield bytes;
    }
    const end = Buffer.from(JSON.stringify({ firsts, ends, digests } satisfies End));
    endBytes = end.length;
    digest = sha256Hex(end);
    yield end;
  }
  const name = await files.write(workflow, pieces());
  return { name, rows: count, pagesBytes, endBytes, digest };
}

function* pagesOf(rows: Iterable<Row>): Generator<{ readonly first: CallKey; readonly rows: number; readonly text: string }> {
  let tables = newTables();
  let lines: string[] = [];
  let first: CallKey | undefined;
  let units = 0;
  const page = (from: CallKey) => ({ first: from, rows: lines.length, text: `${encodeTables(tables)}\n${lines.join('\n')}\n` });
  for (const row of rows) {
    const line = encodeRow(row, tables);
    first ??= row.key;
    lines.push(line);
    units += line.length;
    if (units < PAGE_UNITS) continue;
    yield page(first);
    tables = newTables();
    lines = [];
    first = undefined;
    units = 0;
  }
  if (first !== undefined) yield page(first);
}

interface Page {
  readonly bytes: Buffer;
  /** The end of its first line, which holds the tables. */
  readonly tablesEnd: number;
  tables?: ReadTables;
}

export class Tier {
  /** Ordered by their last use. */
  private readonly held = new Map<number, Page>();
  private pagesRead = 0;
  private last: { readonly key: CallKey; readonly row: Row | undefined } | undefined;

  private constructor(
    readonly info: TierInfo,
    private readonly file: IndexFile,
    private readonly end: End,
  ) {}

  /** Undefined when the file is not the one that was written, as far as its end tells. */
  static open(files: IndexFiles, workflow: Workflow, info: TierInfo): Tier | undefined {
    const file = files.open(workflow, info.name);
    const end = file && endOf(file, info);
    return end && new Tier(info, file, end);
  }

  /** Says that all of the file is what was written. */
  static isWhole(file: IndexFile, info: TierInfo): boolean {
    const end = endOf(file, info);
    return (
      end !== undefined &&
      end.ends.every((to, number) => {
        const from = end.ends[number - 1] ?? 0;
        return digestOf(file.read(from, to - from)) === end.digests[number];
      })
    );
  }

  /** Throws `DamagedTier`. */
  find(key: CallKey): Row | undefined {
    if (this.last?.key !== key) this.last = { key, row: this.read(key) };
    return this.last.row;
  }

  /** Yields all rows, sorted by their keys. Throws `DamagedTier`. */
  *rows(): Generator<Row> {
    for (let number = 0; number < this.end.ends.length; number++) {
      const { bytes, tablesEnd } = this.held.get(number) ?? this.readPage(number);
      const lines = bytes.toString('utf8', tablesEnd + 1, bytes.length - 1).split('\n');
      yield* decodeRows(lines, tablesOf(bytes, tablesEnd));
    }
  }

  private read(key: CallKey): Row | undefined {
    const number = this.pageOf(key);
    if (number < 0) return undefined;
    const page = this.page(number);
    const found = page.bytes.indexOf(beginningOf(key), page.tablesEnd);
    if (found < 0) return undefined;
    page.tables ??= tablesOf(page.bytes, page.tablesEnd);
    return decodeRow(page.bytes.toString('utf8', found + 1, page.bytes.indexOf(NEWLINE, found + 1)), page.tables);
  }

  /** Returns the number of the last page that does not begin behind the key; -1 when all do. */
  private pageOf(key: CallKey): number {
    const { firsts } = this.end;
    let [low, high] = [0, firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((firsts[middle] as CallKey) <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private page(number: number): Page {
    const known = this.held.get(number);
    const page = known ?? this.readPage(number);
    const holdsAll = this.pagesRead > this.end.ends.length;
    if (known && (holdsAll || this.end.ends.length <= HELD_PAGES_MAX)) return known;
    this.held.delete(number);
    this.held.set(number, page);
    if (!holdsAll && this.held.size > HELD_PAGES_MAX) for (const oldest of this.held.keys()) return this.without(oldest, page);
    return page;
  }

  private without(oldest: number, page: Page): Page {
    this.held.delete(oldest);
    return page;
  }

  /** TIER-1 */
  private readPage(number: number): Page {
    const { ends, digests } = this.end;
    const from = ends[number - 1] ?? 0;
    this.pagesRead++;
    let bytes: Buffer;
    try {
      bytes = bufferOf(this.file.read(from, (ends[number] as number) - from));
    } catch (error) {
      throw new DamagedTier(`a page of ${this.info.name} can't be read`, { cause: error });
    }
    if (digestOf(bytes) !== digests[number]) throw new DamagedTier(`a page of ${this.info.name} was changed`);
    return { bytes, tablesEnd: bytes.indexOf(NEWLINE) };
  }
}

/** Undefined when the file is not the one that was written, as far as its end tells. */
function endOf(file: IndexFile, { pagesBytes, endBytes, digest }: TierInfo): End | undefined {
  if (file.bytes !== pagesBytes + endBytes) return undefined;
  const end = bufferOf(file.read(pagesBytes, endBytes));
  return sha256Hex(end) === digest ? (JSON.parse(end.toString()) as End) : undefined;
}

function tablesOf(bytes: Buffer, tablesEnd: number): ReadTables {
  return JSON.parse(bytes.toString('utf8', 0, tablesEnd)) as ReadTables;
}
