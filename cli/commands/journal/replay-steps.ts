/** `--step`: from answer to answer, with a look at the variables in between. */
import type { StopPoint } from '../../../src/session/rerun/replay-options.js';
import type { Io } from '../../terminal/io.js';
import { renderValue, renderVariables } from '../../render/reports/replay.js';

const HELP = 'Enter: next answer · @name: its value · v: all variables · c: go on to the end · q: stop\n';

/** Lines come from the terminal, or from standard input where that is none; its end goes on to the end. */
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
