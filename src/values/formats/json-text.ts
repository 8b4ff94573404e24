/** Recognises texts that are JSON, at little cost. */
import { annotate, type Data, type Value } from '../value.js';

/** Returns the object or array of a text that is strict JSON, blanks around it allowed; undefined for other texts. */
export function parseStructure(text: string): Data | undefined {
  if (!looksLikeStructure(text)) return undefined;
  try {
    return JSON.parse(text) as Data;
  } catch {
    return undefined;
  }
}

/** True for a text that begins and ends as an object or array does; the first character excludes most texts. */
function looksLikeStructure(text: string): boolean {
  const first = firstInk(text);
  if (first !== '{' && first !== '[') return false;
  return lastInk(text) === (first === '{' ? '}' : ']');
}

/** Parses what leaves a stage or function: JSON text of an object or array becomes that value, which keeps its text (values.md 11.2). */
export function valueOfText(text: string): Value {
  const data = parseStructure(text);
  return data === undefined ? text : annotate(data, { text });
}

/** Returns the first character that is not a blank; `''` if there is none. */
export function firstInk(text: string): string {
  let i = 0;
  while (i < text.length && text.charCodeAt(i) <= 32) i++;
  return text.charAt(i);
}

export function lastInk(text: string): string {
  let i = text.length - 1;
  while (i >= 0 && text.charCodeAt(i) <= 32) i--;
  return text.charAt(i);
}
