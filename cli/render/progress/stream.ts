/** Writes the progress of a run as lines of a log: a sentence each half minute, or each minute of a wait, or an object when it changed. */
import type { CallsAtWorkers, RunSummary } from '../../../src/api/reports/summary.js';
import { progressLine, progressObject } from './lines.js';
import { hasProgress, watchPace, type Clock } from './moment.js';
import type { Progress } from './terminal.js';

export interface Stream extends Clock {
  /** Writes whole lines. */
  readonly write: (text: string) => void;
}

const SENTENCE_EVERY_MS = 30_000;
/** While a lane waits for its allowance. */
const SENTENCE_OF_WAIT_EVERY_MS = 60_000;
const OBJECT_EVERY_MS = 1000;
const FLUSH_EVERY_MS = 250;
/** A pace needs looks in between. */
const LOOK_EVERY_MS = 5000;

/** A run that is shorter than half a minute has no line. */
export function sentences({ write, ...clock }: Stream): Progress {
  const look = watchPace(clock);
  let summary: RunSummary | undefined;
  let atWorkers: CallsAtWorkers | undefined;
  let writtenMs = clock.nowMs();
  const ticking = setInterval(() => {
    if (summary === undefined || !hasProgress(summary, atWorkers)) return;
    const moment = look(summary, atWorkers);
    const everyMs = moment.holds.some(({ stopped }) => stopped !== undefined) ? SENTENCE_OF_WAIT_EVERY_MS : SENTENCE_EVERY_MS;
    if (clock.nowMs() - writtenMs < everyMs) return;
    writtenMs = clock.nowMs();
    write(`progress: ${progressLine(moment)}\n`);
  }, LOOK_EVERY_MS).unref();
  return {
    update: (latest) => void (summary = latest),
    updateWorkers: (now) => void (atWorkers = now),
    around: (inner) => inner,
    stop: () => clearInterval(ticking),
  };
}

/** The first state, then at most one in a second, also where nothing follows it for long, and the last one when the run has ended. */
export function objects({ write, ...clock }: Stream): Progress {
  const look = watchPace(clock);
  let unwritten: RunSummary | undefined;
  let latest: RunSummary | undefined;
  let atWorkers: CallsAtWorkers | undefined;
  let writtenMs = -Infinity;
  const print = (summary: RunSummary): void => {
    write(`${JSON.stringify(progressObject(look(summary, atWorkers)))}\n`);
    writtenMs = clock.nowMs();
    unwritten = undefined;
  };
  const flush = (): void => {
    if (unwritten !== undefined) print(unwritten);
  };
  const ticking = setInterval(() => clock.nowMs() - writtenMs >= OBJECT_EVERY_MS && flush(), FLUSH_EVERY_MS).unref();
  const update = (summary: RunSummary): void => {
    latest = summary;
    if (!hasProgress(summary, atWorkers)) return;
    if (clock.nowMs() - writtenMs < OBJECT_EVERY_MS) unwritten = summary;
    else print(summary);
  };
  return {
    update,
    updateWorkers: (now) => {
      const isNews = now.calls !== (atWorkers?.calls ?? 0) || now.workers !== (atWorkers?.workers ?? 0);
      atWorkers = now;
      if (isNews && latest !== undefined) update(latest);
    },
    around: (inner) => inner,
    stop: () => {
      clearInterval(ticking);
      flush();
    },
  };
}
