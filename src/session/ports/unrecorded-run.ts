/** Opens what a run has in the place of a journal where nothing is recorded: its calls are counted, and none is reused. */
import { runIdAt, type RunRef, type Workflow } from '../../../journal/ids.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';
import { laneWait } from '../pause-error.js';
import { NO_RESULT_CACHE } from '../no-result-cache.js';
import type { RunOptions } from '../script/run-options.js';
import { UnrecordedProgress } from '../unrecorded-progress.js';
import { concealFact } from './conceal.js';
import type { JournalPorts, OpenedJournal } from './opened-journal.js';
import { unrecordedRecorder, type RunRecorder } from './recorder.js';
import { createTotalsCounter, type TotalsCounter } from './run-totals.js';

const NOTHING_LEARNED: LearnedPace = { lanes: new Map(), costs: new Map() };

export function unrecordedRun(
  unrecorded: NonNullable<OpenedJournal['unrecorded']>,
  options: RunOptions,
  ports: Pick<JournalPorts, 'calls' | 'secrets'>,
): OpenedJournal {
  const counter = createTotalsCounter();
  const { restarts, totals, calls } = counter;
  const recorder = countingRecorder(counter, options, { workflow: '' as Workflow, run: runIdAt(0, '0000') });
  ports.calls.dispatcher.open({
    record: (fact) => recorder.post(concealFact(fact, ports.secrets)),
    waits: (lane, untilMs, why) =>
      options.io.stderr(laneWait({ lane: ports.secrets.redact(lane), untilMs, why, nowMs: options.io.nowMs(), isRecorded: false })),
    learn: async () => NOTHING_LEARNED,
  });
  return {
    unrecorded,
    recorder,
    started: Promise.resolve(),
    cache: NO_RESULT_CACHE(),
    ref: undefined,
    prior: undefined,
    restarts,
    totals,
    calls,
    flush: async () => {},
    finish: async () => {},
    notices: () => [],
  };
}

/** Counts the calls of a run that records nothing, and keeps its progress only if a caller watches the run. */
export function countingRecorder({ count }: TotalsCounter, { onProgress, io }: RunOptions, ref: RunRef): RunRecorder {
  if (!onProgress) return unrecordedRecorder(count);
  const progress = new UnrecordedProgress({ ref, nowMs: io.nowMs, onProgress });
  const both: TotalsCounter['count'] = (fact) => {
    count(fact);
    progress.count(fact);
  };
  return unrecordedRecorder(both, progress);
}
