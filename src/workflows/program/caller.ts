/** Finds where the user's code called a function of the library, so that reports name that place. */
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { displayPath } from '../../language/paths.js';
import type { Settings } from '../../runtime/settings.js';
import { frameIn } from '../run/script-error.js';

/** Between a function of the library and the user's code may be built-in ones, such as `Array.map`. */
const FRAMES = 5;

/**
 * Returns the place as `file:line:column`; the text is made when it is first needed.
 *
 * @param called the function that the user's code called: its frame and the inner ones do not count
 */
export function callerOf(called: (...args: never) => unknown, settings: Settings): () => string | undefined {
  const { stackTraceLimit } = Error;
  const holder: { readonly stack?: unknown } = {};
  Error.stackTraceLimit = FRAMES;
  Error.captureStackTrace(holder, called);
  Error.stackTraceLimit = stackTraceLimit;
  return () => {
    const { stack } = holder;
    if (typeof stack !== 'string') return undefined; // the program replaced the way in which stacks are written
    const found = frameIn(stack, (each) => each.startsWith('file:') || path.isAbsolute(each));
    if (!found) return undefined;
    const file = found.file.startsWith('file:') ? fileURLToPath(found.file) : found.file;
    return `${displayPath(file, settings)}:${found.line}:${found.column}`;
  };
}
