/** Writes the progress of a run as lines of a log: a sentence each half minute, or an object when something changed. */
import type { RunSummary } from '../../../src/api/reports/summary.js';
import { progressLine, progressObject } from './lines.js';
import { hasProgress, watchPace, type Clock } from './moment.js';
import type { Progress } from './terminal.js';

export interface Stream extends Clock {
  /** Writes whole lines. */
  readonly write: (text: string) => void;
}

const SENTENCE_EVERY_MS = 30_000;
const OBJECT_EVERY_MS = 1000;
const FLUSH_EVERY_MS = 250;
/** A pace needs looks in between. */
const LOOK_EVERY_MS = 5000;

/** A run that is shorter than half a minute has no line. */
export function sentences({ write, ...clock }: Stream): Progress {
  const look = watchPace(clock);
  let summary: RunSummary | undefined;
  let writtenMs = clock.nowMs();
  const ticking = setInterval(() => {
    if (summary === undefined || !hasProgress(summary)) return;
    const moment = look(summary);
    if (clock.nowMs() - writtenMs < SENTENCE_EVERY_MS) return;
    writtenMs = clock.nowMs();
    write(`progress: ${progressLine(moment)}\n`);
  }, LOOK_EVERY_MS).unref();
  return { update: (latest) => void (summary = latest), around: (inner) => inner, stop: () => clearInterval(ticking) };
}

/** The first state, then at most one in a second, also where nothing follows it for long, and the last one when the run has ended. */
export function objects({ write, ...clock }: Stream): Progress {
  const look = watchPace(clock);
  let unwritten: RunSummary | undefined;
  let writtenMs = -Infinity;
  const print = (summary: RunSummary): void => {
    write(`${JSON.stringify(progressObject(look(summary)))}\n`);
    writtenMs = clock.nowMs();
    unwritten = undefined;
  };
  const flush = (): void => {
    if (unwritten !== undefined) print(unwritten);
  };
  const ticking = setInterval(() => clock.nowMs() - writtenMs >= OBJECT_EVERY_MS && flush(), FLUSH_EVERY_MS).unref();
  return {
    update: (summary) => {
      if (!hasProgress(summary)) return;
      if (clock.nowMs() - writtenMs < OBJECT_EVERY_MS) unwritten = summary;
      else print(summary);
    },
    around: (inner) => inner,
    stop: () => {
      clearInterval(ticking);
      flush();
    },
  };
}
