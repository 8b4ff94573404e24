/** Names the lane of a program that calls models. calls.md 12.1. */
import { modelOf, programOf } from '../replies/program.js';

/** Programs that have a lane of their own, whoever calls them. */
const PROGRAMS = ['claude', 'codex', 'gemini', 'opencode', 'curl'];

/** Stands in a command line for a value that is not known before the call. */
export const UNKNOWN = '\0';

/** `claude/haiku`; undefined for a command line of another program. `model`: for a line that names none. */
export function programLane(commandLine: string, model: string | undefined): string | undefined {
  const program = programOf(commandLine);
  if (program === undefined || !PROGRAMS.includes(program)) return undefined;
  const named = modelOf(commandLine);
  const known = named === undefined || named.includes(UNKNOWN) ? model : named;
  return known === undefined ? program : `${program}/${known}`;
}
