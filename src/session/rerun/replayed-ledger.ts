/**
 * The ledger of a pipeline that walks again: what it says is held against the record, and is applied to the state as it was recorded.
 *
 * L1  Facts that somebody waits for come in their turn; the others with what they follow from.
 * L2  Nothing behind `lastSeq` is applied.
 */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { GraphFact } from '../../../journal/pipeline-event.js';
import type { RunRef, Seq } from '../../../journal/ids.js';
import { describeEvent } from '../../../replay/reports/summary/describe.js';
import { graphState, type GraphState } from '../../../replay/pipeline/graph-state.js';
import { eventOf } from '../../../replay/fold/projection.js';
import { isWhole, type Recording } from '../../../replay/recording/recorded-world.js';
import { factsLeft, saying, saysTheSame, takeFact, type GraphEvent, type RecordedWalk } from '../../../replay/recording/recorded-walk.js';
import type { Ledger } from '../../pipeline/stage/ledger.js';
import type { Divergence } from './divergence.js';
import type { ReplayRuntime } from './replay-runtime.js';
import { endOfReplay } from './replayed-world.js';

interface Ports {
  readonly ref: RunRef;
  readonly walk: RecordedWalk;
  readonly recording: Recording;
  /** Where the run began. Belongs to the ledger. */
  readonly state: GraphState;
  readonly lastSeq: number;
  readonly onEvent: ((event: JournalEvent) => void) | undefined;
}

const NOWHERE = { offset: 0, bytes: 0 };

export function createReplayedLedger(
  { ref, walk, recording, state, lastSeq, onEvent }: Ports,
  setting: ReplayRuntime,
): Ledger & {
  readonly state: GraphState;
} {
  const { control: course, order } = setting;
  let current = state;
  let latest: { readonly seq: Seq; readonly ts: string } = recording.started as EventOf<'run.started'>; // a run without is not replayed

  function say(fact: GraphFact, event: GraphEvent | undefined): void {
    if (course.signal.aborted) throw endOfReplay();
    if (event && event.seq > lastSeq) {
      setting.stopAt(event.seq, event.op);
      throw endOfReplay(); // L2
    }
    const isSame = event !== undefined && saysTheSame(fact, event);
    if (!isSame && (event || isWhole(recording)) && !course.diverge(factDivergence(fact, event))) throw endOfReplay();
    if (event && event.seq > latest.seq) latest = event;
    const told = isSame ? event : eventOf(fact, latest.seq, latest.ts);
    current = graphState.apply(current, told, { ref, position: NOWHERE });
    onEvent?.(told);
  }

  return {
    get state() {
      return current;
    },
    post: (fact) => say(fact, takeFact(walk, fact)),
    async append(fact) {
      const event = takeFact(walk, fact);
      await order.waitFor(event?.seq ?? -1); // L1
      say(fact, event);
    },
  };
}

/** What was said then and was not said now. */
export function missingFact(walk: RecordedWalk): Divergence | undefined {
  const [left] = factsLeft(walk);
  return left && { reason: 'missing', op: left.op, kind: left.type, expected: { seq: left.seq, subject: describeEvent(left) } };
}

function factDivergence(fact: GraphFact, event: GraphEvent | undefined): Divergence {
  const told = describeEvent(eventOf(fact, 0 as Seq, ''));
  const { type: kind, op } = fact;
  if (!event) return { reason: 'new', op, kind, actual: { subject: told } };
  const [then, now] = [saying(event), saying(fact)];
  const differs = (member: string): boolean => JSON.stringify(then[member]) !== JSON.stringify(now[member]);
  const differing = [...new Set([...Object.keys(then), ...Object.keys(now)])].filter(differs);
  const only = (said: typeof then): object => Object.fromEntries(differing.map((member) => [member, said[member] ?? null]));
  return {
    reason: 'changed',
    op,
    kind,
    expected: { seq: event.seq, subject: describeEvent(event), request: only(then) },
    actual: { subject: told, request: only(now) },
  };
}
