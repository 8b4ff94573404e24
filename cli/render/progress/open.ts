/** Chooses how the progress of a run is shown, and loads only that. calls.md 14.6. */
import type { ProgressForm } from '../../options/run-request.js';
import type { Io } from '../../terminal/io.js';
import type { Progress } from './terminal.js';

/** Draws on a terminal, or else calls `write` with whole lines. */
export async function openProgress(io: Io, form: ProgressForm | undefined, write: (text: string) => void): Promise<Progress | undefined> {
  const { draw, columns, nowMs, todayMs, colours } = io;
  if (form === 'none') return undefined;
  if (draw && (form === 'tty' || (form === undefined && !isPlain(io)))) {
    const { startProgress } = await import('./terminal.js');
    return startProgress({ write: draw, columns, nowMs, todayMs, colours: colours.stderr });
  }
  const { objects, sentences } = await import('./stream.js');
  return (form === 'json' ? objects : sentences)({ write, nowMs, todayMs });
}

/** The log of a build server keeps each drawing, and a simple terminal can't move its cursor. */
function isPlain({ environment: { CI: ci = '', TERM: terminal } }: Io): boolean {
  return (ci !== '' && ci !== 'false') || terminal === 'dumb';
}
