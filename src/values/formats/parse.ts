/** Implements the stages `@parse`, `@parse.strict`, `@parse.llm` and `@parse.fromlist` (values.md 11.3 and 11.4). */
import { MlldError } from '../../errors.js';
import { parseRelaxed, reasonOf } from './json5-text.js';
import { textOf } from '../text.js';
import { type Data, dataOf, type Value } from '../value.js';

/** Reads relaxed JSON; returns a value that is not a text unchanged. Throws MlldError PARSE_FAILED, which names the stage. */
export async function parseLoose(value: Value, stage: string): Promise<Data> {
  const data = dataOf(value) ?? null;
  if (typeof data !== 'string') return data;
  try {
    return await parseRelaxed(data);
  } catch (error) {
    throw parseFailed(stage, error, data);
  }
}

export function parseStrict(value: Value, stage: string): Data {
  const text = textOf(value);
  try {
    return JSON.parse(text) as Data;
  } catch (error) {
    throw parseFailed(stage, error, text);
  }
}

function parseFailed(stage: string, error: unknown, text: string): MlldError {
  const hint = /[{[]/.test(text) ? 'for JSON inside other text, as models write it, use @parse.llm' : undefined;
  return new MlldError('PARSE_FAILED', `@${stage}: ${reasonOf(error)}`, { hint, cause: error });
}

/** Returns the JSON in a model's reply, or null; never fails. */
export async function parseAnswer(value: Value): Promise<Data> {
  const found = candidates(textOf(value)).find(isPromising);
  if (found === undefined) return null;
  return parseRelaxed(found).catch(() => null);
}

function candidates(text: string): string[] {
  return [fenced(text, 'json'), fenced(text, ''), between(text, '{', '}'), between(text, '[', ']')]
    .filter((candidate) => candidate !== undefined)
    .map((candidate) => candidate.trim());
}

/** Returns the text in the first fence with this info string. */
function fenced(text: string, info: string): string | undefined {
  const lines = text.split('\n');
  let opening: { readonly at: number; readonly info: string } | undefined;
  for (const [at, line] of lines.entries()) {
    const marks = line.trim();
    if (!marks.startsWith('```')) continue;
    if (!opening) opening = { at, info: marks.replace(/^`+/, '').trim().toLowerCase() };
    else {
      if (opening.info === info) return lines.slice(opening.at + 1, at).join('\n');
      opening = undefined;
    }
  }
  return undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const from = text.indexOf(open);
  const to = text.lastIndexOf(close);
  return from !== -1 && to > from ? text.slice(from, to + 1) : undefined;
}

function isPromising(candidate: string): boolean {
  return /^[{[]/.test(candidate) && /[}\]]$/.test(candidate) && /[:,]/.test(candidate);
}

/** Returns the lines that are not blank, with their indentation. */
export function parseLines(value: Value): readonly string[] {
  return textOf(value)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}
