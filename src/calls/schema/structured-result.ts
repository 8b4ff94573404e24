/** Reads the structured result in what an attempt returned. Pure. calls.md 8.2 and 8.3. */
import type { Json } from '../../../journal/event.js';
import type { ResultSchema } from './compile-schema.js';

export type StructuredResult =
  { readonly kind: 'fits'; readonly value: Json } | { readonly kind: 'misfits'; readonly problems: readonly string[] };

/** An attempt returned a text, from which JSON is read, or data. */
export type RawResult = { readonly text: string } | { readonly data: Json };

export function structuredResult(raw: RawResult, schema: ResultSchema): StructuredResult {
  const read = 'data' in raw ? { value: raw.data } : jsonIn(raw.text);
  if (read === undefined) return { kind: 'misfits', problems: ['the result must be JSON'] };
  const beyond = beyondDoubles(read.value, '');
  if (beyond !== undefined)
    return { kind: 'misfits', problems: [`${beyond === '' ? 'the result' : beyond} must be a number of at most 1.8e308`] };
  const problems = schema.problemsIn(read.value);
  return problems.length === 0 ? { kind: 'fits', value: read.value } : { kind: 'misfits', problems };
}

/** Returns the place of a number that was read as infinite: the journal would hold it as something else. */
function beyondDoubles(value: Json, at: string): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = beyondDoubles(member as Json, `${at}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A single fenced block around the whole text, with or without a language. */
const FENCED = /^(?<fence>`{3,})[^\n`]*\n(?<inside>[\s\S]*?)\n?\k<fence>$/;

/** The parser's own message is left out: it repeats parts of the reply, which may hold a secret. */
function jsonIn(text: string): { readonly value: Json } | undefined {
  const trimmed = text.trim();
  try {
    return { value: JSON.parse(FENCED.exec(trimmed)?.groups?.['inside'] ?? trimmed) as Json };
  } catch {
    return undefined;
  }
}
