/** Makes values of what commands and code returned (control.md 5.8). */
import { annotate, type Data, type Value } from './value.js';
import { valueOfText } from './formats/json-text.js';
import { fromNative } from './native.js';

/**
 * `code`: `sh`, `bash`, `js`, `node`, `py`. `inline-cmd`: a `cmd` directly on the right of `var` or `let`, which reads
 * like code. `cmd`: only objects and arrays are read.
 */
export type Medium = 'cmd' | 'code' | 'inline-cmd';

/** Strings inside a parsed value are not parsed; the trimmed text is the value's text view. */
export function parseResult(text: string, medium: Medium, trimmed: 'end' | 'both' = 'end'): Value {
  const result = trimmed === 'both' ? text.trim() : text.trimEnd();
  if (medium === 'cmd') return isBrace(result) ? valueOfText(result) : result;
  if (!mayBeData(result)) return result;
  try {
    const data = JSON.parse(result) as Data;
    if (Number.isInteger(data) && !Number.isSafeInteger(data)) return result; // an id of 20 digits
    // Data in its usual form needs no text view; `1.50` does.
    if (data === null || typeof data === 'string') return annotate(data, { text: result, isPrinted: true });
    return typeof data !== 'object' && String(data) === result ? data : annotate(data, { text: result });
  } catch {
    return result;
  }
}

/** Makes a value of what a `js` or `node` body returned; text is read by the same rule as printed text. */
export function resultOfCode(returned: unknown): Value {
  if (returned === null || returned === undefined) return '';
  return typeof returned === 'string' ? parseResult(returned, 'code', 'both') : fromNative(returned);
}

/** Implements rule 2. `007`, `+5`, `1e21` and `NaN` are text. */
function mayBeData(text: string): boolean {
  if (isBrace(text) || text.startsWith('"')) return true;
  if (text === 'null' || text === 'true' || text === 'false') return true;
  const code = text.charCodeAt(0);
  return (code === 45 || (code >= 48 && code <= 57)) && /^-?\d+(\.\d+)?$/.test(text);
}

function isBrace(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[');
}
