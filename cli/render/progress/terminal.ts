/**
 * Shows the progress of a run on the last lines of a terminal.
 *
 * PROGRESS-1 the lines are taken away before anything else is written and when the run ends: they are never part of the output.
 * PROGRESS-2 they never wrap, and where the terminal became narrower since, the rows that they take now are taken away.
 * PROGRESS-3 they are drawn at most ten times a second, however often the run changes.
 * PROGRESS-4 they are drawn only where a line begins, never behind text of the script that has no line end yet.
 * PROGRESS-5 the cursor rests at the start of the line below them, so that whatever ends the process leaves the terminal in order.
 */
import type { CallsAtWorkers, RunSummary } from '../../../src/api/reports/summary.js';
import { styleFor } from '../style.js';
import { terminalText } from '../terminal-text.js';
import { widthOf } from '../wrap.js';
import { progressLines } from './lines.js';
import { hasProgress, watchPace, type Clock } from './moment.js';

export interface Progress {
  /** The latest state of the run; it is kept until the next one. */
  readonly update: (summary: RunSummary) => void;
  /** Takes the calls that workers execute now. */
  readonly updateWorkers: (now: CallsAtWorkers) => void;
  /** Writes text of someone else to the same terminal. */
  readonly around: (write: (text: string) => void) => (text: string) => void;
  readonly stop: () => void;
}

export interface Screen extends Clock {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly colours: boolean;
}

const DRAW_EVERY_MS = 100;
/** The clock moves also while nothing changes. */
const TICK_EVERY_MS = 1000;

export function startProgress({ write, columns, colours, ...clock }: Screen): Progress {
  const look = watchPace(clock);
  const style = styleFor(colours);
  let summary: RunSummary | undefined;
  let atWorkers: CallsAtWorkers | undefined;
  let drawnMs = -Infinity;
  let drawn: readonly string[] = [];
  let atLineStart = true;

  const erase = (): void => {
    const rows = rowsOf(drawn, columns());
    if (rows > 0) write(`\r\u001B[${rows}A\u001B[J`);
    drawn = [];
  };
  const draw = (): void => {
    const now = clock.nowMs();
    if (summary === undefined || !hasProgress(summary, atWorkers) || !atLineStart || now - drawnMs < DRAW_EVERY_MS) return;
    drawnMs = now;
    const lines = progressLines(look(summary, atWorkers), columns(), style);
    erase();
    write(lines.map((line) => `${terminalText(line, { colours })}\n`).join(''));
    drawn = lines;
  };
  const ticking = setInterval(draw, TICK_EVERY_MS).unref();

  return {
    update: (latest) => {
      summary = latest;
      draw();
    },
    updateWorkers: (now) => {
      atWorkers = now;
      draw();
    },
    around: (inner) => (text) => {
      if (text === '') return;
      erase();
      inner(text);
      atLineStart = text.endsWith('\n');
    },
    stop: () => {
      clearInterval(ticking);
      erase();
      summary = undefined;
    },
  };
}

/** Counts the rows of the terminal that the lines take: it breaks those that are wider than it became. PROGRESS-2. */
function rowsOf(lines: readonly string[], columns: number): number {
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns))), 0);
}
