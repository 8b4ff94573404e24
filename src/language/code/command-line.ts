/**
 * Makes the command line of a `cmd`. control.md 5.3.
 *
 * COMMAND-1  No value is in the text that the shell reads as a command. Each value is assigned to a variable before that text, in single
 *            quotes, and its place holds an expansion in double quotes, so the text around the place and the value can't change each
 *            other's meaning.
 *            A parameter that the text mentions as `$name` is a variable of the environment, and not in the text either.
 * COMMAND-2  The readable text has the values in it, quoted for people, hooks and guards. A run records it, and it identifies the call.
 *            Executed as it is, it is the same command, because a guard may return a changed one.
 */
import type { Code, HolePart, TemplatePart } from '../../../grammar/ast.js';
import { shellWord, singleQuoted } from '../../../journal/shell-words.js';
import { MlldError } from '../../errors.js';
import { commandText, isDataForCommand } from '../../values/native.js';
import { isTruthy } from '../../values/truth.js';
import type { Value } from '../../values/value.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { CommandLine } from '../../runtime/operation.js';
import { shellVariablesFor } from './code-variables.js';
import { holeValue } from '../expressions/template.js';

export async function commandLineOf(node: Code, frame: Frame): Promise<CommandLine> {
  const line = new Line();
  await write(node.text, frame, line);
  for (const { value } of shellVariablesFor(node, frame)) line.use(value);
  return line.finished();
}

class Line {
  private readonly used: Value[] = [];
  /** Maps each word to the number of its variable, because a text of many words repeats most of them. */
  private readonly words = new Map<string, number>();
  private text = '';
  private executed = '';

  write(text: string): void {
    this.text += text;
    this.executed += text;
  }

  use(value: Value): void {
    this.used.push(value);
  }

  /** Adds a value, or a word of one: `readable` to the text for people, an expansion in `quote` to the text for the shell. */
  word(word: string, readable: string, quote: '"' | ''): void {
    const known = this.words.get(word);
    const number = known ?? this.words.size + 1;
    if (known === undefined) this.words.set(word, number);
    this.text += readable;
    this.executed += `${quote}\${${VARIABLE}${number}}${quote}`;
  }

  finished(): CommandLine {
    const { text, used, words } = this;
    if (words.size === 0) return { text, used };
    const values = [...words].map(([word, number]) => `${VARIABLE}${number}=${singleQuoted(word)};`);
    return { text, executed: values.join('') + this.executed, used };
  }
}

const VARIABLE = '__mlld_';

async function write(parts: readonly TemplatePart[], frame: Frame, line: Line): Promise<void> {
  for (const part of parts) {
    if (part.kind === 'text') line.write(part.text);
    else if (part.kind === 'hole') await writeHole(part, frame, line);
    else throw new Error(`a ${part.kind} in a command`);
  }
}

async function writeHole(part: HolePart, frame: Frame, line: Line): Promise<void> {
  const value = await holeValue(part, frame);
  if (part.then) {
    if (isTruthy(value)) await write(part.then, frame, line);
    return;
  }
  if (value !== undefined) line.use(value);
  const text = (part.dollar ? '$' : '') + (value === undefined ? part.written : commandText(value));
  const readable = (quoted: string): string => inBackquotes(quoted, part.backquotes);
  switch (part.quoting) {
    case 'double':
      return line.word(text, readable(text.replace(/[\\"$`]/g, '\\$&')), '');
    case 'parameter':
      return line.word(text, readable(text.replace(/[\\"$`}]/g, '\\$&')), '');
    case 'document':
      return line.word(text, readable(documentQuoted(text)), '');
    case 'number':
      if (!/^\s*[-+]?\d+\s*$/.test(text)) throw notANumber(part, frame);
      return line.word(text, text, '');
    case 'pattern':
      return line.word(text, readable(singleQuoted(text)), '"');
    default:
  }
  // Outside quotes, data and an undefined name are one word.
  const isText = value !== undefined && !isDataForCommand(value);
  if (isText) refuseOperators(text, part, frame);
  if (isText && part.quoting === 'bare') return writeWords(text, line, readable);
  line.word(text, readable(shellWord(text)), '"');
}

/** Writes each word literally; blanks between words in the value separate them in the command. */
function writeWords(text: string, line: Line, readable: (quoted: string) => string): void {
  for (const piece of text.split(/([ \t\r\n]+)/)) {
    if (piece === '') continue;
    if (/^[ \t\r\n]/.test(piece)) line.write(piece.replace(/[\r\n]+/g, ' '));
    else line.word(piece, readable(shellWord(piece)), '"');
  }
}

/** Begins each line with `$()`, which expands to nothing: such a line never ends the document. */
function documentQuoted(text: string): string {
  return `$()${text.replace(/[\\$`]/g, '\\$&').replaceAll('\n', '\n$()')}`;
}

/** Escapes once for each pair of backquotes around the place, because the shell removes one level of backslashes for each. */
function inBackquotes(text: string, pairs = 0): string {
  return pairs === 0 ? text : inBackquotes(text.replace(/[\\$`]/g, '\\$&'), pairs - 1);
}

function refuseOperators(text: string, part: HolePart, frame: Frame): void {
  const operator = /&&|\|\||[;&|<>]/.exec(text);
  if (!operator) return;
  throw new MlldError('SHELL_OPERATOR', `The value of ${part.written} holds the shell operator ${operator[0]}`, {
    location: locationOf(frame.module, part.at),
    hint: `put the reference into double quotes: "${part.written}"`,
  });
}

/** bash executes a command in the index of an array (`a[$(…)]`) when it computes with a text, so only whole numbers are let in. */
function notANumber(part: HolePart, frame: Frame): MlldError {
  return new MlldError('SHELL_NUMBER', `The shell computes with the value of ${part.written}, which is not a whole number`, {
    location: locationOf(frame.module, part.at),
    hint: 'compute in `js`, or compare text with `[ … ]`',
  });
}
