/** Reads JSON and JSON5 texts. The JSON5 reader is slow to load and slow to run, so strict JSON is always tried first. */
import { messageOf } from '../../errors.js';
import type { Data } from '../value.js';

/** Throws a SyntaxError with the JSON5 reader's reason. */
export async function parseRelaxed(text: string): Promise<Data> {
  try {
    return JSON.parse(text) as Data;
  } catch {
    const { default: json5 } = await import('json5');
    return json5.parse<Data>(text);
  }
}

/** Returns the parser's reason in words, without its prefix. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^JSON5: /, '');
}
