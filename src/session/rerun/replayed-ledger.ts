/**
 * The ledger of a replayed pipeline: compares its facts with the record, and applies them to the state as they were recorded.
 *
 * REPLAY-LEDGER-1  Facts that are waited for come in the order of the record; posted ones with the fact that they follow from.
 * REPLAY-LEDGER-2  Nothing after `lastSeq` is applied.
 */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { PipelineFact } from '../../../journal/facts/pipeline-event.js';
import type { RunRef, Seq } from '../../../journal/ids.js';
import { describeEvent } from '../../../replay/reports/summary/describe.js';
import { pipelineState, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { emptyWalk } from '../../../replay/pipeline/walk.js';
import { eventOf } from '../../../replay/fold/projection.js';
import { isWhole, type Recording } from '../../../replay/recording/recorded-world.js';
import {
  factsLeft,
  saying,
  saysTheSame,
  takeFact,
  type PipelineEvent,
  type RecordedWalk,
} from '../../../replay/recording/recorded-walk.js';
import type { Ledger } from '../../pipeline/stage/state-ledger.js';
import type { Divergence } from './divergence.js';
import type { ReplayRuntime } from './replay-runtime.js';
import { endOfReplay } from './replayed-world.js';

interface Ports {
  readonly ref: RunRef;
  readonly walk: RecordedWalk;
  readonly recording: Recording;
  /** The state in which the run began; the ledger changes it. */
  readonly state: PipelineState;
  readonly lastSeq: number;
  readonly onEvent: ((event: JournalEvent) => void) | undefined;
}

const NOWHERE = { offset: 0, bytes: 0 };

export function createReplayedLedger(
  { ref, walk, recording, state, lastSeq, onEvent }: Ports,
  runtime: ReplayRuntime,
): Ledger & {
  readonly state: PipelineState;
} {
  const { control, order } = runtime;
  let current = state;
  let latest: { readonly seq: Seq; readonly ts: string } = recording.started as EventOf<'run.started'>; // a run without one is not replayed

  function record(fact: PipelineFact, event: PipelineEvent | undefined): void {
    if (control.signal.aborted) throw endOfReplay();
    if (event && event.seq > lastSeq) {
      runtime.stopAt(event.seq, event.op);
      throw endOfReplay(); // REPLAY-LEDGER-2
    }
    const isSame = event !== undefined && saysTheSame(fact, event);
    if (!isSame && (event || isWhole(recording)) && !control.diverge(factDivergence(fact, event))) throw endOfReplay();
    if (event && event.seq > latest.seq) latest = event;
    const applied = isSame ? event : eventOf(fact, latest.seq, latest.ts);
    current = pipelineState.apply(current, applied, { ref, position: NOWHERE });
    onEvent?.(applied);
  }

  return {
    get state() {
      return current;
    },
    emptyWalk,
    post: (fact) => record(fact, takeFact(walk, fact)),
    async append(fact) {
      const event = takeFact(walk, fact);
      await order.waitFor(event?.seq ?? -1); // REPLAY-LEDGER-1
      record(fact, event);
    },
  };
}

/** Returns the first recorded fact that the replay did not record; undefined if there is none. */
export function missingFact(walk: RecordedWalk): Divergence | undefined {
  const [left] = factsLeft(walk);
  return left && { reason: 'missing', op: left.op, kind: left.type, expected: { seq: left.seq, subject: describeEvent(left) } };
}

function factDivergence(fact: PipelineFact, event: PipelineEvent | undefined): Divergence {
  const subject = describeEvent(eventOf(fact, 0 as Seq, ''));
  const { type: kind, op } = fact;
  if (!event) return { reason: 'new', op, kind, actual: { subject } };
  const [recorded, actual] = [saying(event), saying(fact)];
  const differs = (member: string): boolean => JSON.stringify(recorded[member]) !== JSON.stringify(actual[member]);
  const differing = [...new Set([...Object.keys(recorded), ...Object.keys(actual)])].filter(differs);
  const only = (members: typeof recorded): object => Object.fromEntries(differing.map((member) => [member, members[member] ?? null]));
  return {
    reason: 'changed',
    op,
    kind,
    expected: { seq: event.seq, subject: describeEvent(event), request: only(recorded) },
    actual: { subject, request: only(actual) },
  };
}
