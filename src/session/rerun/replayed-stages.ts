/**
 * Replays what reaches a pipeline without being an effect: time limits, people, and functions of the program that ran it.
 *
 * REPLAY-STAGE-1  A limit expires, and a person is too late, where the record says so and in the order of the record; never by a clock.
 * REPLAY-STAGE-2  A stage that can't be repeated, because it watched another run or a function of the program did its work, returns its
 *                 recorded outcome.
 * REPLAY-STAGE-3  Branches that share a thread speak in the order of the record: in older ones it is that of their arrival. One that did
 *                 not come to its turn waits until it is ended.
 */
import path from 'node:path';
import type { PipelineFact } from '../../../journal/facts/pipeline-event.js';
import type { OpPath } from '../../../journal/ids.js';
import { isInside } from '../../../replay/fold/op-path.js';
import type { Recording } from '../../../replay/recording/recorded-world.js';
import { factsLeft, type RecordedWalk } from '../../../replay/recording/recorded-walk.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import type { Stage, TimedWait } from '../../pipeline/stage/stage.js';
import { handlersWith } from '../../pipeline/handlers/built-in.js';
import type { Handler, Handlers } from '../../pipeline/handlers/handler.js';
import { outcomeOf, StageError, type StageOutcome } from '../../pipeline/model/outcome.js';
import { textAnswer, type Interviewer } from '../../pipeline/human/interviewer.js';
import { endOfTime } from '../../../replay/recording/end-of-time.js';
import { aborted, type ReplayOrder } from './replay-order.js';

const MANAGER = 'stack.manager_loop';

export interface ReplayedStages {
  readonly wait: PipelineRuntime['wait'];
  readonly turns: PipelineRuntime['turns'];
  readonly interviewer: Interviewer;
  readonly handlers: Handlers;
  /** The types of handlers that the program brought along. */
  readonly ownTypes: ReadonlySet<string>;
  /** True for an operation of a stage that is not repeated (REPLAY-STAGE-2). */
  isInside(op: OpPath): boolean;
}

interface Ports {
  readonly walk: RecordedWalk;
  readonly recording: Recording;
  readonly order: ReplayOrder;
  /** Called when code waits for something that the record does not have. */
  readonly stuck: () => void;
}

export function createReplayedStages(ports: Ports): ReplayedStages {
  const { walk } = ports;
  const builtIn = handlersWith(new Map());
  const types = [...walk.started.values()].map(({ handler }) => handler);
  const ownTypes = new Set(types.filter((type) => !builtIn.has(type)));
  const notRepeated = new Set([...ownTypes, MANAGER]);
  const nodes = new Set([...walk.started.values()].flatMap(({ node, handler }) => (notRepeated.has(handler) ? [node] : [])));
  const people = createPeople(ports);
  return {
    wait: (about, signal) => replayedWait(ports, about, signal, people.tooLate),
    turns: recordedTurns(ports),
    interviewer: people.interviewer,
    handlers: new Map([...builtIn, ...[...notRepeated].map((type): [string, Handler] => [type, replayedHandler(ports, type)])]),
    ownTypes,
    isInside: (op) => op.split('/').some((step) => nodes.has(step.slice(0, step.lastIndexOf('#')))),
  };
}

async function replayedWait(
  { walk, recording, order, stuck }: Ports,
  { until, op, ms }: TimedWait,
  signal: AbortSignal,
  tooLate: (op: OpPath) => number | undefined,
): Promise<void> {
  const end = walk.ends.get(op);
  const endsAt = (seq: number | undefined): Promise<void> => (seq === undefined ? aborted(signal) : order.waitFor(seq));
  switch (until) {
    case 'limit': {
      const reason = end?.type === 'retry.scheduled' ? end.reason : end?.outcome.failure_reason;
      if (end === undefined || reason !== `timed out after ${ms} ms`) return aborted(signal);
      return order.waitFor(endOfTime(walk, recording, { op, end: end.seq }) ?? end.seq);
    }
    case 'late':
      return endsAt(tooLate(op));
    case 'unheeded':
      return order.waitFor(end?.seq ?? recording.last + 1);
    case 'retry': {
      const begun = walk.begun.get(op);
      if (begun === undefined) stuck();
      return endsAt(begun);
    }
  }
}

/** REPLAY-STAGE-3 */
function recordedTurns({ recording, order }: Ports): PipelineRuntime['turns'] {
  return {
    arrive: () => undefined,
    leave: () => undefined,
    async next(_, attempt, signal) {
      const call = recording.calls.get(`${attempt}/model#0` as OpPath);
      // A call that was not begun was ended while it waited for its turn, or refused before its start.
      await (call ? order.waitFor(call.seq) : Promise.race([aborted(signal), order.idle()]));
      if (!call && signal.aborted) throw signal.reason as Error;
    },
  };
}

/** People give their recorded answers; those who did not answer are waited for until the question is interrupted. */
function createPeople({ walk, order, stuck }: Ports): {
  readonly interviewer: Interviewer;
  /** Returns the event at which it was too late for an answer. */
  readonly tooLate: (op: OpPath) => number | undefined;
} {
  let by: Interviewer['by'] = 'auto';
  const isLate = (answer: { readonly answer: string; readonly by: Interviewer['by'] }): boolean =>
    answer.by === 'default' || answer.answer === 'timeout';
  return {
    interviewer: {
      get by() {
        return by;
      },
      onUnmatched: 'accept',
      async ask({ id }, signal) {
        const answered = [...walk.answered.values()].find((answer) => answer.id === id);
        if (!answered) stuck();
        if (!answered || isLate(answered)) {
          await aborted(signal);
          return { kind: 'skipped' };
        }
        await order.waitFor(answered.seq);
        by = answered.by;
        return answered.answer === 'skipped' ? { kind: 'skipped' } : textAnswer(answered.answer);
      },
      inform: () => undefined,
    },
    tooLate(op) {
      const answered = walk.answered.get(op);
      if (!answered || !isLate(answered)) return undefined;
      by = answered.by;
      return answered.seq;
    },
  };
}

/** REPLAY-STAGE-2 */
function replayedHandler({ walk, order, stuck }: Ports, type: string): Handler {
  const starts = [...walk.started.values()].filter(({ handler }) => handler === type);
  const carries = [...walk.ends.values()].some(
    (end) =>
      end.type === 'node.finished' && end.outcome.carried && end.status !== 'skipped' && starts.some(({ node }) => node === end.node),
  );
  return {
    ...(carries ? { isTransparent: true } : {}),
    ...(starts.some(({ fidelity }) => fidelity) ? { callsModel: true } : {}),
    async handle(stage) {
      const end = walk.ends.get(stage.frame.op.path);
      if (!end) {
        stuck();
        await aborted(stage.signal);
        throw new StageError('transient', 'the stage was cut off');
      }
      await order.waitFor(end.seq);
      for (const fact of factsLeft(walk)) if (fact.seq < end.seq && isRecordedBy(stage, fact)) stage.run.ledger.post(fact);
      if (end.type === 'node.finished') return recordedOutcome(stage, end);
      if (end.cause === 'asked') return outcomeOf('retry', { failure_reason: end.reason });
      throw new StageError('transient', end.reason);
    },
  };
}

function isRecordedBy({ nodeOp, frame }: Stage, { type, op }: PipelineFact): boolean {
  return (op === nodeOp || isInside(op, frame.op.path)) && (type.startsWith('artifact.') || type === 'context.updated');
}

function recordedOutcome(
  { folder, run }: Stage,
  { outcome, files = [], excerpt }: { readonly outcome: StageOutcome; readonly files?: readonly string[]; readonly excerpt?: string },
): StageOutcome {
  for (const file of files) {
    const name = path.relative(folder.path, path.join(run.folder.path, file));
    folder.write(name, name === 'response.md' ? (excerpt ?? '') : '');
  }
  const { carried: _, ...own } = outcome;
  return own;
}
