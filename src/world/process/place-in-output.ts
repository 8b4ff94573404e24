/** Finds the line of a command at which its shell or Python says that it failed. */
import type { CodePlace } from '../world.js';

/** Says how a language writes that place; `cmd` is missing, because the text that ran is not that of the script. */
const FINDERS: { readonly [language: string]: (stderr: string, lines: readonly string[]) => CodePlace | undefined } = {
  sh: placeInShell,
  bash: placeInShell,
  py: placeInPython,
};

/** A longer standard error is searched only in its end. */
const SEARCHED_UNITS = 64 * 1024;

/** Undefined where standard error names no line of the code. */
export function placeInOutput(language: string, stderr: string, code: string): CodePlace | undefined {
  return FINDERS[language]?.(stderr.slice(-SEARCHED_UNITS), code.split('\n'));
}

/** `bash: line 4: …`, `bash: eval: line 4: …`, and in a function `environment: line 4: …` */
const SHELL = /^(?:bash|environment): (?:eval: )?line (\d+): (.*)$/gm;

/** An error of syntax is followed by its consequences, and other errors follow what the command survived. */
function placeInShell(stderr: string, lines: readonly string[]): CodePlace | undefined {
  const found = [...stderr.matchAll(SHELL)];
  const syntax = found.find(([, , message = '']) => /^(?:syntax error|unexpected EOF)/.test(message));
  return placeAt(Number((syntax ?? found.at(-1))?.[1]), lines);
}

/** The two lines below the place are the text of the line, and signs that mark a part of it. */
const PYTHON = /^ {2}File "<py>", line (\d+).*\n(?: {4}(.*)\n(?: {4}([ ~^]*)$)?)?/gm;

function placeInPython(stderr: string, lines: readonly string[]): CodePlace | undefined {
  const [, line, , marks = ''] = [...stderr.matchAll(PYTHON)].at(-1) ?? [];
  return placeAt(Number(line), lines, Math.max(0, marks.search(/[~^]/)));
}

/** `offset` counts from the first sign of the line that is not blank. */
function placeAt(line: number, lines: readonly string[], offset = 0): CodePlace | undefined {
  const text = lines[line - 1];
  if (text === undefined || text.trim() === '') return undefined;
  const indent = text.length - text.trimStart().length;
  return { line, column: 1 + indent + Math.min(offset, text.trim().length) };
}
