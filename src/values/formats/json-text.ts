/** Texts that are JSON, told apart from other texts at little cost. */
import { annotate, type Data, type Value } from '../value.js';

/** The object or array that `text` is as a whole in strict JSON, blanks around it allowed; undefined for other texts. */
export function parseStructure(text: string): Data | undefined {
  if (!looksLikeStructure(text)) return undefined;
  try {
    return JSON.parse(text) as Data;
  } catch {
    return undefined;
  }
}

/** Begins and ends as an object or array does; most texts are sorted out here by their first character. */
function looksLikeStructure(text: string): boolean {
  const first = firstInk(text);
  if (first !== '{' && first !== '[') return false;
  return lastInk(text) === (first === '{' ? '}' : ']');
}

/** What leaves a stage or function: JSON text of an object or array is that value again, and keeps its text (values 11.2). */
export function valueOfText(text: string): Value {
  const data = parseStructure(text);
  return data === undefined ? text : annotate(data, { text });
}

/** First character that is no blank; `''` if there is none. */
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
