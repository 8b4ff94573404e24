/** Reads the patterns of `journal redact` and `journal bundle`. */
import { MlldError } from '../../src/errors.js';

/** Throws USAGE for a text that is not a regular expression. */
export function patternOf(option: string, text: string): RegExp {
  try {
    return new RegExp(text, 'gu');
  } catch (cause) {
    throw new MlldError('USAGE', `${option} ${text}: ${(cause as Error).message}`, { cause });
  }
}
