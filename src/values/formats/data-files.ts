/** Reads the data in a loaded file's text (world.md 5.2). Data keeps the text it was read from. */
import { MlldError } from '../../errors.js';
import { firstInk, lastInk } from './json-text.js';
import { parseRelaxed, reasonOf } from './json5-text.js';
import { annotate, type Data, type Value } from '../value.js';

/** The ending of `name` decides the format. Throws MlldError INVALID_JSON, which names it. */
export async function parseDataFile(name: string, text: string): Promise<Value> {
  const lower = name.toLowerCase();
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (lower.endsWith('.jsonl')) return annotate(await parseRecords(name, content), { text });
  if (lower.endsWith('.json')) return annotate(await parseJsonFile(name, content), { text });
  if (!mayBeJson(content)) return text;
  const data = await parseRelaxed(content).catch(() => undefined);
  return data === undefined ? text : annotate(data, { text });
}

async function parseJsonFile(name: string, text: string): Promise<Data> {
  if (text.trim() === '') throw new MlldError('INVALID_JSON', `${name} is empty, and a .json file holds one value`);
  try {
    return await parseRelaxed(text);
  } catch (error) {
    throw new MlldError('INVALID_JSON', `${name} is not valid JSON: ${reasonOf(error)}`, { cause: error });
  }
}

async function parseRecords(name: string, text: string): Promise<Data> {
  const records: Data[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      records.push(await parseRelaxed(line));
    } catch (error) {
      throw new MlldError('INVALID_JSON', `${name}, line ${i + 1} is not valid JSON: ${reasonOf(error)}`, { cause: error });
    }
  }
  return records;
}

const NUMBER_LENGTH_MAX = 400;

/**
 * Saves calling a parser: almost every text is not JSON, which its first and last character show. A comment may precede
 * or follow relaxed JSON, so that the last character of a collection proves nothing.
 */
function mayBeJson(text: string): boolean {
  const first = firstInk(text);
  switch (first) {
    case '':
      return false;
    case '{':
    case '[':
      return true;
    case '"':
    case "'":
      return lastInk(text) === first;
    case '/':
      return /^\s*\/[/*]/.test(text) && '}]'.includes(lastInk(text));
    default:
      return mayBeScalar(text);
  }
}

function mayBeScalar(text: string): boolean {
  if (text.length > NUMBER_LENGTH_MAX) return false;
  const word = text.trim();
  if (word === 'true' || word === 'false' || word === 'null') return true;
  return /^[+-]?(\d|\.\d|Infinity$|NaN$)/.test(word) && /^[\w.+-]+$/.test(word);
}
