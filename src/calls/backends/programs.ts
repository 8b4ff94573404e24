/** The table of the programs that execute model calls, for every front-end that names one as its backend. */
import { shellWords } from '../../../journal/shell-words.js';
import type { EffectRequest } from '../../world/world.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';
import type { ModelProgram } from './program.js';

export const MODEL_PROGRAMS: readonly ModelProgram[] = [claude, codex, gemini, opencode];

/** A line for the shell, or the words of a program: as a request to the world. */
export function commandOf(command: string | readonly string[]): Pick<EffectRequest<'command.run'>, 'language' | 'code' | 'words'> {
  if (typeof command === 'string') return { language: 'cmd', code: command };
  return { language: 'cmd', code: shellWords(command), words: command };
}

/** Parts the written name of a backend: `cmd` and `wc -l` of `cmd:wc -l`. */
export function backendParts(written: string): { readonly kind: string; readonly rest: string } {
  const [kind = '', ...rest] = written.split(':');
  return { kind: kind.trim(), rest: rest.join(':').trim() };
}

/** The words that a user wrote behind the name of a program. */
export function furtherWords(rest: string): readonly string[] {
  return rest.split(/\s+/).filter((word) => word !== '');
}
