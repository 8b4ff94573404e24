/** Describes the open journal of a run: what the run records to and reuses from, and what is known of it at its end. */
import type { FactOf } from '../../../journal/event.js';
import type { RunTotals } from '../../../journal/facts/run-event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { RunTrace } from '../../runtime/recorder.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { World } from '../../world/world.js';
import type { RunCalls } from '../run-calls.js';
import type { RunInputs } from '../script/run-inputs.js';
import type { OpenedPriorRuns } from './prior-runs.js';
import type { RunRecorder } from './recorder.js';
import type { RefusedRecording } from './recording.js';

export interface OpenedJournal {
  /** Says why nothing is recorded; `failed`: the journal can't be read or written. Undefined when the run records. */
  readonly unrecorded: RefusedRecording | 'failed' | undefined;
  readonly recorder: RunRecorder;
  /** Resolves when `run.started` is recorded, or can't be: nothing that the run does may come before (SESSION-4). */
  readonly started: Promise<void>;
  readonly trace?: RunTrace | undefined;
  readonly cache: ResultCache;
  /** Undefined when nothing is recorded. */
  readonly ref: RunRef | undefined;
  /** The runs before, with the memo that follows this one. Undefined when nothing is recorded. */
  readonly prior: OpenedPriorRuns | undefined;
  /** The run restarts behind this node of a pipeline. */
  restarts(node: string | undefined): void;
  totals(): RunTotals;
  /** The calls of the run up to now, recorded or not; undefined while there are none. */
  calls(): RunCalls | undefined;
  /** Resolves when all that was recorded so far is with the kernel: a killed process does not lose it. */
  flush(): Promise<void>;
  /** Appends the last event and releases the run. */
  finish(fact: FactOf<'run.finished'>): Promise<void>;
  /** Returns lines for stderr at the end of the run. */
  notices(): readonly string[];
}

export interface JournalPorts {
  readonly world: World;
  /** Texts that may not be written to the journal, as the run learns them. */
  readonly secrets: SecretRegistry;
  /** Stopped when the journal is lost. */
  readonly calls: CallRuntime;
  /** Recorded at the start, so that the run can be replayed. */
  readonly inputs: RunInputs;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
}
