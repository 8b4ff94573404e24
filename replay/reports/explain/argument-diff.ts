/** Compares the arguments and the results of two calls: which argument, which member of it, and the words around the change. */
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';

export interface ArgumentDifference {
  /** `argument 2`, `argument 1.files[3].name`, `result.title`. */
  readonly where: string;
  /** An excerpt, at most some 60 UTF-16 units; absent when there was nothing. */
  readonly was?: string;
  readonly is?: string;
}

/** Differences beyond this number are left out: the reader looks for the one word that changed. */
const DIFFERENCES_MAX = 10;
const EXCERPT_UNITS = 60;
const CONTEXT_UNITS = 16;

export function argumentDifferences(before: readonly Json[], now: readonly Json[]): readonly ArgumentDifference[] {
  const found: ArgumentDifference[] = [];
  for (let index = 0; index < Math.max(before.length, now.length); index++) {
    compare(`argument ${index + 1}`, before[index], now[index], found);
  }
  return found;
}

export function resultDifferences(before: Json, now: Json): readonly ArgumentDifference[] {
  const found: ArgumentDifference[] = [];
  compare('result', before, now, found);
  return found;
}

function compare(where: string, before: Json | undefined, now: Json | undefined, found: ArgumentDifference[]): void {
  if (found.length >= DIFFERENCES_MAX || before === now) return;
  if (typeof before === 'string' && typeof now === 'string') {
    found.push({ where, ...excerpts(before, now) });
    return;
  }
  if (isList(before) && isList(now)) {
    for (let index = 0; index < Math.max(before.length, now.length); index++)
      compare(`${where}[${index}]`, before[index], now[index], found);
    return;
  }
  if (isObject(before) && isObject(now)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(now)])) compare(`${where}.${name}`, before[name], now[name], found);
    return;
  }
  const [was, is] = [whole(before), whole(now)];
  found.push({ where, ...(was !== undefined && { was }), ...(is !== undefined && { is }) });
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function whole(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : clip(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns the text between the common beginning and the common end, with a few words around it. */
function excerpts(before: string, now: string): { readonly was: string; readonly is: string } {
  const shorter = Math.min(before.length, now.length);
  let start = 0;
  while (start < shorter && before[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === now[now.length - 1 - end]) end++;
  const from = wordBefore(before, Math.max(0, start - CONTEXT_UNITS), start);
  const tail = Math.max(0, end - CONTEXT_UNITS);
  return { was: excerpt(before, from, before.length - tail), is: excerpt(now, from, now.length - tail) };
}

function excerpt(text: string, from: number, to: number): string {
  const opens = from > 0 ? '…' : '';
  const part = to < text.length ? text.slice(from, to).trimEnd() : text.slice(from);
  const isCut = part.length > EXCERPT_UNITS;
  return `${opens}${isCut ? whole16(part.slice(0, EXCERPT_UNITS - 1)) : part}${isCut || to < text.length ? '…' : ''}`;
}

/** The first beginning of a word in the range, so that an excerpt opens with a word where one is near. */
function wordBefore(text: string, from: number, to: number): number {
  if (from === 0) return 0;
  const blank = text.slice(from, to).search(/\s\S/);
  return blank < 0 ? from : from + blank + 1;
}

function clip(text: string): string {
  return text.length > EXCERPT_UNITS ? `${whole16(text.slice(0, EXCERPT_UNITS - 1))}…` : text;
}

/** Never half a character. */
function whole16(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}
