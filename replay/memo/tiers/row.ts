/** The row of a call in a tier of the index: one line of JSON, with numbers for the texts that its page holds once. */
import type { CallKey, Fingerprint, RunRef, Seq } from '../../../journal/ids.js';
import type { MemoEntry } from '../memo.js';
import type { StoredResult } from '../stored-result.js';
import { NONE, numbering, type Numbering } from '../numbering.js';

/** A member that is undefined has not changed since the row of the same call in an older tier. */
export interface Row {
  readonly key: CallKey;
  /** Its place among all calls; present in the oldest row of a call. */
  readonly order?: number | undefined;
  readonly entry?: MemoEntry | undefined;
  readonly calledIn?: number | undefined;
  readonly within?: readonly CallKey[] | undefined;
}

/** The texts, lists and runs that the rows of a page refer to by number. */
export interface Tables {
  readonly strings: Numbering<string>;
  readonly insides: Numbering<readonly string[]>;
  readonly runs: Numbering<RunRef>;
}

export interface ReadTables {
  readonly strings: readonly string[];
  readonly insides: readonly (readonly string[])[];
  readonly runs: readonly RunRef[];
}

export function newTables(): Tables {
  return {
    strings: numbering(),
    insides: numbering((names) => names.join('\n')),
    runs: numbering(({ workflow, run }) => `${workflow}\n${run}`),
  };
}

export function encodeTables({ strings, insides, runs }: Tables): string {
  const tables: ReadTables = { strings: strings.all, insides: insides.all, runs: runs.all };
  return JSON.stringify(tables);
}

type Text = string | null;
type Count = number | null;
type Cells = readonly [
  key: CallKey,
  order: Count,
  calledIn: Count,
  within: readonly CallKey[] | null,
  fn?: number,
  fingerprint?: number,
  site?: number,
  declared?: number,
  scope?: number,
  inside?: number,
  attempt?: Count,
  preview?: Text,
  result?: ResultCells | null,
];
type ResultCells = readonly [
  run: number,
  seq: Seq,
  offset: number,
  bytes: number,
  form: number,
  endedMs: Count,
  elapsedMs: number,
  sizeBytes: number,
  costUsd: Count,
  insideUsd: Count,
];

/** The text before which no row of another call begins. */
export function beginningOf(key: CallKey): string {
  return `\n[${JSON.stringify(key)},`;
}

export function encodeRow({ key, order, calledIn, within, entry }: Row, { strings, insides, runs }: Tables): string {
  const head = [key, order ?? null, calledIn ?? null, within ?? null] as const;
  if (entry === undefined) return JSON.stringify(head satisfies Cells);
  const { fn, fingerprint, site, declared, scope, inside, attempt = null, preview = null, result } = entry;
  const cells: Cells = [
    ...head,
    strings.of(fn),
    strings.of(fingerprint),
    strings.of(site),
    strings.of(declared),
    strings.of(scope),
    insides.of(inside),
    attempt,
    preview,
    result === undefined ? null : resultCells(result, runs.of(result.ref)),
  ];
  return JSON.stringify(cells);
}

function resultCells(result: StoredResult, run: number): ResultCells {
  const { seq, position, endedMs, elapsedMs, sizeBytes, costUsd = null, insideUsd = null } = result;
  return [run, seq, position.offset, position.bytes, packForm(result), endedMs, elapsedMs, sizeBytes, costUsd, insideUsd];
}

export function decodeRow(line: string, tables: ReadTables): Row {
  return rowOf(JSON.parse(line) as Cells, tables);
}

/** Decodes the rows of a page, which are one per line. */
export function decodeRows(lines: readonly string[], tables: ReadTables): readonly Row[] {
  return (JSON.parse(`[${lines.join(',')}]`) as readonly Cells[]).map((cells) => rowOf(cells, tables));
}

function rowOf([key, order, calledIn, within, fn, ...rest]: Cells, { strings, insides, runs }: ReadTables): Row {
  const known = { key, order: order ?? undefined, calledIn: calledIn ?? undefined, within: within ?? undefined };
  if (fn === undefined) return known;
  const [fingerprint, site, declared, scope, inside = NONE, attempt, preview, result] = rest;
  const text = (number = NONE): string | undefined => (number === NONE ? undefined : strings[number]);
  const entry: MemoEntry = {
    fn: strings[fn] as string,
    fingerprint: text(fingerprint) as Fingerprint | undefined,
    site: text(site),
    declared: text(declared),
    preview: preview ?? undefined,
    attempt: attempt ?? undefined,
    scope: text(scope),
    inside: insides[inside] as readonly string[],
    result: result ? resultOf(result, runs) : undefined,
  };
  return { ...known, entry };
}

function resultOf(
  [run, seq, offset, bytes, form, endedMs, elapsedMs, sizeBytes, costUsd, insideUsd]: ResultCells,
  runs: readonly RunRef[],
) {
  return {
    ref: runs[run] as RunRef,
    seq,
    position: { offset, bytes },
    ...unpackForm(form),
    endedMs: endedMs ?? Number.NaN, // JSON has no NaN
    elapsedMs,
    sizeBytes,
    costUsd: costUsd ?? undefined,
    insideUsd: insideUsd ?? undefined,
  } satisfies StoredResult;
}

const TEXT = 1;
const SEALED = 2;
const CARRIES = 4;
const WORD = 8;
const FILES = 16;
const USAGE = 32;
const INCOMPLETE = 64;

export function packForm({ form, sealed, carries, hasFiles, hasUsage, isIncomplete }: Form): number {
  const kind = form === 'text' ? TEXT : form === 'word' ? WORD : 0;
  const about = (sealed ? SEALED : 0) | (carries ? CARRIES : 0) | (hasFiles ? FILES : 0) | (hasUsage ? USAGE : 0);
  return kind | about | (isIncomplete ? INCOMPLETE : 0);
}

type Form = Pick<StoredResult, 'form' | 'sealed' | 'carries' | 'hasFiles' | 'hasUsage' | 'isIncomplete'>;

export function unpackForm(bits: number): Form {
  return FORMS[bits] as Form;
}

const FORMS: readonly Form[] = Array.from({ length: 2 * INCOMPLETE }, (_, bits) => ({
  form: (bits & TEXT) !== 0 ? 'text' : (bits & WORD) !== 0 ? 'word' : undefined,
  sealed: (bits & SEALED) !== 0,
  carries: (bits & CARRIES) !== 0,
  hasFiles: (bits & FILES) !== 0,
  hasUsage: (bits & USAGE) !== 0,
  isIncomplete: (bits & INCOMPLETE) !== 0,
}));
