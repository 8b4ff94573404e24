/**
 * Runs regular expressions of scripts. Some take very long, and nothing else runs meanwhile, so a search ends in one of three ways: it
 * can't take long, whatever the text is; or V8 changes to its linear engine when it backtracks too much; or it is stopped after a limit.
 * The owner of the process decides whether V8 may use its linear engine: the command line turns it on (`cli/v8-flags.ts`), and a program
 * that uses the library finds V8 unchanged.
 */
import { Script, createContext, type Context } from 'node:vm';
import { MlldError } from '../../errors.js';

const LIMIT_MS = 5000;
/** Steps of backtracking that take some milliseconds at most. */
const QUICK_STEPS = 1e6;
const ESCAPES_AND_CLASSES = /\\.|\[(?:\\.|[^\]\\])*\]/gs;

/** Throws MlldError BAD_PATTERN. */
export function userRegExp(source: string, flags = ''): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw new MlldError(
      'BAD_PATTERN',
      `Not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}`,
    );
  }
}

/** Runs a search with the pattern in a text of this length. Throws MlldError PATTERN_TOO_SLOW. */
export function search<T>(pattern: RegExp, length: number, run: () => T): T {
  if (stepsAtMost(pattern.source, length) <= QUICK_STEPS || isLinear(pattern)) return run();
  try {
    return withLimit(run);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new MlldError(
      'PATTERN_TOO_SLOW',
      `The regular expression /${pattern.source}/ took longer than ${LIMIT_MS / 1000} s on this text`,
      {
        hint: 'repetitions inside repetitions are slow, also beside back-references, look-around and the flags i and u; simplify it',
      },
    );
  }
}

/**
 * Estimates an upper bound of steps: a match may begin anywhere, each repetition may end anywhere, each choice may take either branch,
 * each back-reference may be as long as the text. A repeated group may hold repetitions: then there is no bound.
 */
function stepsAtMost(source: string, length: number): number {
  const bare = source.replaceAll(ESCAPES_AND_CLASSES, '.');
  if (/\)[*+{]/.test(bare)) return Infinity;
  const count = (part: RegExp, text: string): number => text.match(part)?.length ?? 0;
  const lengths = 1 + count(/[*+{]/g, bare) + count(/\\[1-9k]/g, source);
  return length ** lengths * 2 ** count(/[|?]/g, bare);
}

/** True when V8 has a linear form of the pattern: it refuses the flag `l` when its linear engine is off or lacks a part of the pattern. */
function isLinear({ source, flags }: RegExp): boolean {
  try {
    return new RegExp(source, `${flags}l`) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Made when it is first needed, because that takes a millisecond, and kept. It holds nothing between two searches. */
let limiter: { readonly context: Context; readonly script: Script } | undefined;

function withLimit<T>(run: () => T): T {
  limiter ??= { context: createContext({}), script: new Script('run()') };
  const { context, script } = limiter;
  context['run'] = run;
  try {
    return script.runInContext(context, { timeout: LIMIT_MS }) as T;
  } finally {
    context['run'] = undefined;
  }
}
