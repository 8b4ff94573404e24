/** Turns what a script threw into an error with its place in the script's file, and finds places in stacks. */
import { MlldError, type SourceLocation } from '../../errors.js';
import { NOT_HERE } from '../realm/bootstrap.js';
import type { WorkflowSource } from './ports.js';

/** Name, message and stack as texts: nothing else of an error crosses the border. */
export type Thrown = readonly [name: string, message?: string, stack?: string];

/** Names that scripts of other runtimes know. They are not defined, so that `typeof` of them is what it is there. */
const HOST_NAME = /^(process|require|module|exports|fetch|Buffer|__dirname|__filename) is not defined$/;

export function scriptError([name, message = '', stack = '']: Thrown, { display, text }: WorkflowSource): MlldError {
  const location = placeIn(stack, display, text.text);
  const said = message.replace(HOST_NAME, `$1${NOT_HERE}`);
  return new MlldError('WORKFLOW_FAILED', name === '' || name === 'Error' ? said : `${name}: ${said}`, { location });
}

/** Compiles the code of a script. What the parser accepted and this engine does not know yet is an error with its line. */
export function compiledScript<C>(
  { display, text }: WorkflowSource,
  compile: (code: string, place: { readonly file: string; readonly columnOffset: number }) => C,
): C {
  try {
    return compile(text.code, { file: display, columnOffset: text.columnOffset });
  } catch (error) {
    const { name, message, stack = '' } = error as Error;
    if (name !== 'SyntaxError') throw error;
    const line = Number(/:(\d+)\n/.exec(stack)?.[1] ?? 1);
    throw new MlldError('WORKFLOW_SYNTAX', `Parse error: ${message}`, {
      location: { file: display, at: offsetOf(text.text, line, 1), text: text.text },
      hint: 'this version of Node does not know the syntax',
      cause: error,
    });
  }
}

/** Finds the innermost frame that is in this file. */
export function placeIn(stack: string, file: string, text: string): SourceLocation | undefined {
  const found = frameIn(stack, (each) => each === file);
  return found && { file, at: offsetOf(text, found.line, found.column), text };
}

interface StackFrame {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Returns the innermost frame with a file that fits. Reads no further, because every call of a program asks for its place. */
export function frameIn(stack: string, isFit: (file: string) => boolean): StackFrame | undefined {
  for (const line of stack.split('\n')) {
    const [, file, row, column] = /(?:\(|at (?:async )?)([^()]*):(\d+):(\d+)\)?$/.exec(line.trim()) ?? [];
    if (file !== undefined && isFit(file)) return { file, line: Number(row), column: Number(column) };
  }
  return undefined;
}

function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let number = 1; number < line; number++) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    at = end + 1;
  }
  return Math.min(at + Math.max(column, 1) - 1, text.length);
}
