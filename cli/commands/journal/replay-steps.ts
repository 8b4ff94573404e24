/** `--step`: stops before each recorded result and shows variables on request. */
import type { StopPoint } from '../../../src/api/commands/replay.js';
import type { Io } from '../../terminal/io.js';
import { renderValue, renderVariables } from '../../render/reports/replay.js';

const HELP = 'Enter: next result · @name: its value · v: all variables · c: continue to the end · q: stop\n';

/** Reads commands from the terminal, or else from standard input; at its end the replay continues to its own end. */
export function stepper(io: Io): (place: StopPoint) => Promise<'continue' | 'stop'> {
  const nextLine = linesOf(io);
  let steps = true;
  let greeted = false;
  return async (place) => {
    if (!steps) return 'continue';
    if (!greeted) io.stderr(HELP);
    greeted = true;
    for (;;) {
      io.stderr(`before event ${place.seq}, in ${place.op}> `);
      const line = (await nextLine())?.trim();
      if (line === undefined || line === 'c') steps = false;
      if (line === undefined || line === 'c' || line === '') return 'continue';
      if (line === 'q') return 'stop';
      look(io, place, line);
    }
  };
}

function look(io: Io, { variables }: StopPoint, line: string): void {
  const found = variables.find(({ name }) => `@${name}` === line);
  if (line === 'v') io.stdout(renderVariables(variables, io.stdoutColumns()));
  else if (found) io.stdout(`${renderValue(found.value)}\n`);
  else io.stderr(line.startsWith('@') ? `there is no ${line} in scope here\n` : HELP);
}

function linesOf(io: Io): () => Promise<string | undefined> {
  const { readLine } = io;
  if (readLine) return () => readLine(new AbortController().signal);
  let rest: string[] | undefined;
  return async () => {
    rest ??= (await io.stdin())?.split('\n') ?? [];
    return rest.shift();
  };
}
