/** Packs rows of calls into columns of numbers, which one parse reads at once; texts, runs and lists are numbered in tables. */
import type { CallKey } from '../../../journal/ids.js';
import { NONE } from '../numbering.js';
import { newTables, packForm, type ReadTables, type Row } from '../tiers/row.js';

const COLUMNS = [
  'added',
  'calledIn',
  'fn',
  'fingerprint',
  'site',
  'declared',
  'scope',
  'inside',
  'attempt',
  'run',
  'seq',
  'offset',
  'bytes',
  'form',
  'endedMs',
  'elapsedMs',
  'sizeBytes',
  'costUsd',
  'insideUsd',
] as const;
type Columns<Column> = { readonly [name in (typeof COLUMNS)[number]]: Column };
/** A number per row, or the one number that all rows share, which is usual in most columns. */
export type Packed = number | readonly number[];

export interface PackedRows extends ReadTables {
  /** The digests as base64 in one text, or the keys as they are if one is no digest. */
  readonly keys: string | readonly CallKey[];
  /**
   * Each without the beginning and the end that are those of the one before: items of a loop are mostly made of one template. A number is
   * the place among these of the same preview, as several conversations at once have it.
   */
  readonly previews: readonly (string | number | null)[];
  /** The lengths of those beginnings and ends, in UTF-16 units. */
  readonly previewHeads: Packed;
  readonly previewTails: Packed;
  readonly columns: Columns<Packed>;
  /** The time from which the times in `endedMs` are counted. */
  readonly fromMs: number;
  /** The keys around a call, by its place in `keys`; they too are places there, or keys of calls that have no row here. */
  readonly within: readonly (readonly [number, readonly (number | CallKey)[]])[];
}

/** Rows with an order are those of calls that no tier has. */
export function packRows(rows: readonly Row[]): PackedRows {
  const { strings, insides, runs } = newTables();
  const results = rows.map(({ entry }) => entry?.result);
  const fromMs = results.find((result) => result !== undefined && Number.isFinite(result.endedMs))?.endedMs ?? 0;
  const previews = new MiddleTexts();
  for (const { entry } of rows) previews.push(entry?.preview);
  // Column by column: of many little functions V8 optimizes none, where it would optimize a large one just before the command ends.
  const columns: Columns<readonly number[]> = {
    added: rows.map(({ order }) => (order === undefined ? 0 : 1)),
    calledIn: rows.map(({ calledIn }) => calledIn ?? NONE),
    fn: rows.map(({ entry }) => strings.of(entry?.fn)),
    fingerprint: rows.map(({ entry }) => strings.of(entry?.fingerprint)),
    site: rows.map(({ entry }) => strings.of(entry?.site)),
    declared: rows.map(({ entry }) => strings.of(entry?.declared)),
    scope: rows.map(({ entry }) => strings.of(entry?.scope)),
    inside: rows.map(({ entry }) => insides.of(entry?.inside)),
    attempt: rows.map(({ entry }) => entry?.attempt ?? NONE),
    run: results.map((result) => runs.of(result?.ref)),
    seq: results.map((result) => result?.seq ?? NONE),
    offset: results.map((result) => result?.position.offset ?? NONE),
    bytes: results.map((result) => result?.position.bytes ?? NONE),
    form: results.map((result) => (result ? packForm(result) : NONE)),
    endedMs: results.map((result) => (result ? result.endedMs - fromMs : NONE)),
    elapsedMs: results.map((result) => result?.elapsedMs ?? NONE),
    sizeBytes: results.map((result) => (result && result.sizeBytes !== result.position.bytes ? result.sizeBytes : NONE)),
    costUsd: results.map((result) => result?.costUsd ?? NONE),
    insideUsd: results.map((result) => result?.insideUsd ?? NONE),
  };
  return {
    strings: strings.all,
    insides: insides.all,
    runs: runs.all,
    keys: packKeys(rows.map(({ key }) => key)),
    previews: previews.middles,
    previewHeads: packed(previews.heads),
    previewTails: packed(previews.tails),
    columns: columnsOf((name) => packed(columns[name])),
    fromMs,
    within: packWithin(rows),
  };
}

export const DIGEST = 'sha256:';
const DIGITS = /.{64}/g;
const DIGEST_UNITS = DIGEST.length + 64;

function packKeys(keys: readonly CallKey[]): PackedRows['keys'] {
  if (keys.some((key) => key.length !== DIGEST_UNITS || !key.startsWith(DIGEST))) return keys;
  const digits = keys.map((key) => key.slice(DIGEST.length)).join('');
  const bytes = Buffer.from(digits, 'hex');
  return bytes.toString('hex') === digits ? bytes.toString('base64') : keys; // else some are no digits, or capital ones
}

export function unpackKeys({ keys }: Pick<PackedRows, 'keys'>): readonly CallKey[] {
  if (typeof keys !== 'string') return keys;
  const digits = Buffer.from(keys, 'base64').toString('hex').match(DIGITS) ?? [];
  // Texts that are put together take twice the memory of those that JSON.parse makes.
  return digits.length === 0 ? [] : (JSON.parse(`["${DIGEST}${digits.join(`","${DIGEST}`)}"]`) as CallKey[]);
}

/** A text of which less is left is not looked for among those before it. */
const REPEATED_UNITS_MIN = 32;

/** Cuts from each text what it has in common with the one before; of one that was there already, the place is left. */
class MiddleTexts {
  readonly middles: (string | number | null)[] = [];
  readonly heads: number[] = [];
  readonly tails: number[] = [];
  private readonly places = new Map<string, number>();
  private before = '';
  private head = 0;
  private tail = 0;

  push(text: string | undefined): void {
    if (text === undefined) {
      this.add(null, 0, 0);
      return;
    }
    const { before } = this;
    // Mostly they part where the two before did, which one comparison finds.
    let head = text.startsWith(before.slice(0, this.head)) ? this.head : 0;
    while (head < text.length && text.charCodeAt(head) === before.charCodeAt(head)) head++;
    const most = Math.min(text.length, before.length) - head;
    let tail = this.tail <= most && text.endsWith(before.slice(before.length - this.tail)) ? this.tail : 0;
    while (tail < most && text.charCodeAt(text.length - 1 - tail) === before.charCodeAt(before.length - 1 - tail)) tail++;
    const isLong = text.length - tail - head >= REPEATED_UNITS_MIN;
    const known = isLong ? this.places.get(text) : undefined;
    if (isLong && known === undefined) this.places.set(text, this.middles.length);
    if (known === undefined) this.add(text.slice(head, text.length - tail), head, tail);
    else this.add(known, 0, 0);
    this.before = text;
    this.head = head;
    this.tail = tail;
  }

  private add(middle: string | number | null, head: number, tail: number): void {
    this.middles.push(middle);
    this.heads.push(head);
    this.tails.push(tail);
  }
}

function packWithin(rows: readonly Row[]): PackedRows['within'] {
  if (rows.every(({ within }) => within === undefined)) return [];
  const places = new Map(rows.map(({ key }, place) => [key, place]));
  return rows.flatMap(({ within }, place) => (within ? [[place, within.map((key) => places.get(key) ?? key)] as const] : []));
}

function columnsOf<Column>(make: (name: (typeof COLUMNS)[number]) => Column): Columns<Column> {
  return Object.fromEntries(COLUMNS.map((name) => [name, make(name)])) as Columns<Column>;
}

function packed(column: readonly number[]): Packed {
  const first = column[0];
  if (first === undefined) return column;
  for (let i = 1; i < column.length; i++) if (column[i] !== first) return column;
  return first;
}
