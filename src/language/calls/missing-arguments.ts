/** Takes a parameter that got no argument from the names of the caller, as templates expect it. control.md 4. */
import type { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import { siteOf } from '../../runtime/position.js';
import type { Value } from '../../values/value.js';

/** Returns the arguments with the caller's locals in the free places, and warns of them once for each function. */
export function withCallersNames(executable: Executable, args: readonly Value[], frame: Frame, at: number): readonly Value[] {
  const { params, code } = executable;
  // Code of another language sees its own parameters and nothing else.
  if (args.length >= params.length || (code && code.language !== 'cmd')) return args;
  const taken = params.slice(args.length).filter((name) => frame.scope.findLocal(name)?.value !== undefined);
  if (taken.length === 0) return args;
  if (!executable.isWarnedOf) {
    executable.isWarnedOf = true;
    frame.run.warn(`${describeTaken(executable.name, params.length, args.length, taken)} (${siteOf(frame.module, at)})`);
  }
  return params.map((name, i) => (i < args.length ? args[i] : frame.scope.findLocal(name)?.value));
}

/** `taken` is not empty. */
export function describeTaken(name: string, takes: number, got: number, taken: readonly string[]): string {
  const names = taken.map((each) => `@${each}`);
  const list = names.length === 1 ? names[0] : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return `@${name} takes ${takes} argument${takes === 1 ? '' : 's'} and got ${got}; ${list} ${names.length === 1 ? 'is' : 'are'} taken from the caller`;
}
