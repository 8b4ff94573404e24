/** Asks the engine's own parser about a text. Nothing is run. */
import { Script, type ScriptOptions } from 'node:vm';

/** Returns the engine's error of syntax, whose stack begins with the place and names no frames; undefined for a text that is a script. */
export function scriptSyntaxError(text: string, options?: ScriptOptions): SyntaxError | undefined {
  const { stackTraceLimit } = Error;
  // Node writes the stack of such an error at once, and to find the lines of its frames V8 reads the whole program.
  Error.stackTraceLimit = 0;
  try {
    new Script(text, options);
    return undefined;
  } catch (error) {
    return error as SyntaxError;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
