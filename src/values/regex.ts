/**
 * Regular expressions that scripts write. Some take longer than any text deserves, and nothing else runs meanwhile, so they are
 * matched by the host's linear engine where they backtrack too much, and under a limit where only backtracking can match them.
 */
import { createContext, runInContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { MlldError } from '../errors.js';

const LIMIT_MS = 5000;
/** Back-references and look-around: the linear engine has none of them. */
const BACKTRACKING_ONLY = /\\[1-9k]|\(\?<?[=!]/;

/** MlldError BAD_PATTERN. */
export function userRegExp(source: string, flags = ''): RegExp {
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new MlldError(
      'BAD_PATTERN',
      `Not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}`,
    );
  }
}

/** Runs a search with the pattern. MlldError PATTERN_TOO_SLOW. */
export function search<T>(pattern: RegExp, run: () => T): T {
  if (!BACKTRACKING_ONLY.test(pattern.source)) return run();
  try {
    return runInContext('run()', createContext({ run }), { timeout: LIMIT_MS }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new MlldError(
      'PATTERN_TOO_SLOW',
      `The regular expression /${pattern.source}/ took longer than ${LIMIT_MS / 1000} s on this text`,
      {
        hint: 'repetitions inside repetitions are slow together with back-references and look-around; simplify it',
      },
    );
  }
}
