/** Gives a replay the calls of the record: the attempts that failed, and how each call ended. calls.md 17. */
import type { FactOf, JournalEvent } from '../../../journal/event.js';
import { isTurnedAway } from '../../../journal/facts/turned-away.js';
import type { JournalStore } from '../../../journal/store.js';
import type { OpPath } from '../../../journal/ids.js';
import { resolveResult } from '../../../replay/fold/recorded-result.js';
import { endedCall } from '../../../replay/fold/calls/ended-call.js';
import {
  callAround,
  isOvertime,
  type RecordedEnd,
  type RecordedFailure,
  type Recording,
} from '../../../replay/recording/recorded-world.js';
import { resultsOf } from './recorded-results.js';
import type { EndInside, ReplayedCall } from '../../runtime/ports.js';
import type { ReplayOrder } from './replay-order.js';

export interface ReplayedCallsOptions {
  readonly store: JournalStore;
  readonly recording: Recording;
  readonly order: ReplayOrder;
  /** Called when a call waits for something that the record does not have. */
  readonly onStuck: () => void;
}

export interface ReplayedCalls {
  readonly call: (op: OpPath) => ReplayedCall | undefined;
  /** True inside a call that took too long: effects that are not recorded are those that its body performed in vain. */
  readonly isOvertime: (op: OpPath) => boolean;
  /** True inside a call that failed by what came back: no result of a call holds the output of its command. */
  readonly isFailing: (op: OpPath) => boolean;
}

export function createReplayedCalls({ store, recording, order, onStuck }: ReplayedCallsOptions): ReplayedCalls {
  const { calls, failedAttempts } = recording;
  const results = resultsOf(store);

  const failureIn =
    ({ place }: RecordedFailure) =>
    async (): Promise<FactOf<'call.failed'>> => {
      const release = order.hold();
      const event = await store.readAt(place.ref, place.position).finally(release);
      if (event?.type !== 'call.failed') throw new Error('the failure of a call is not where it was recorded');
      return event;
    };

  const failureAt = (failure: RecordedFailure) => (): Promise<FactOf<'call.failed'>> => order.waitFor(failure.seq).then(failureIn(failure));

  async function endsInside(ends: readonly RecordedEnd[]): Promise<readonly EndInside[]> {
    const release = order.hold();
    try {
      const events = await Promise.all(ends.map(({ place }) => store.readAt(place.ref, place.position)));
      return events.flatMap((event) => (event ? [endInside(event)] : []));
    } finally {
      release();
    }
  }

  const waitForGood = (): Promise<never> => {
    onStuck();
    return new Promise(() => {});
  };

  return {
    call(op) {
      const call = calls.get(op);
      if (!call) {
        const failed = failedAttempts.get(op);
        const inside = async (index: number): Promise<readonly EndInside[]> => endsInside(failed?.[index]?.inside ?? []);
        return failed && { earlier: failed.map(failureAt), inside, hasStarted: false, waits: true, waitForGood };
      }
      const { earlier = [], failed, completed, judged } = call;
      const isOwn = failed !== undefined && failed.by !== 'inside';
      return {
        earlier: earlier.map(failureAt),
        inside: async (index) => endsInside(earlier[index]?.inside ?? []),
        hasStarted: true,
        waits: failed?.by === 'waiting',
        waitForGood,
        ...(failed && (isOwn ? { failed: failureAt(failed) } : { endedInside: failureIn(failed) })),
        ...(completed && {
          async completed() {
            const release = order.hold();
            try {
              const event = await store.readAt(completed.place.ref, completed.place.position);
              if (event?.type !== 'call.completed') throw new Error('the result of a call is not where it was recorded');
              const by = completed.supersededBy;
              const winner = by && (await results(by.run, by.seq));
              const received = judged && (await store.readAt(judged.ref, judged.position));
              const given = winner ?? (received?.type === 'result.received' ? received : event);
              return { fact: event, result: await resolveResult(store, given), ...(winner && { isOther: true as const }) };
            } finally {
              release();
            }
          },
        }),
      };
    },
    isOvertime: (op) => isOvertime(recording, op),
    isFailing: (op) => ['judged', 'waiting'].includes(callAround(recording, op)?.failed?.by ?? ''),
  };
}

/** As the run counted it when it happened. A failure that came out of a call further inside is one of that call alone. */
function endInside(event: JournalEvent): EndInside {
  switch (event.type) {
    case 'call.reused':
      return { reused: { savedUsd: event.savedUsd } };
    case 'call.completed':
      return {
        attempt: { usage: event.usage, isFree: event.onlyCalls === true },
        call: endedCall(event).outcome === 'failed' ? 'failed' : 'executed',
      };
    case 'call.failed': {
      const { usage, onlyCalls, evidence, retryInMs, denied, class: failureClass } = event;
      const isUpstream = failureClass === 'upstream';
      const wasExecuted = !isUpstream && (denied !== true || usage !== undefined);
      const isOwn = isUpstream || (evidence !== undefined && denied !== true);
      return {
        ...(wasExecuted && { attempt: { usage, isFree: onlyCalls === true || isTurnedAway(failureClass) } }),
        ...(retryInMs === undefined && isOwn && { call: 'failed' as const }),
      };
    }
    default:
      return {};
  }
}
