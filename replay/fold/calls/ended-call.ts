/** Tells from the event that ended a call what came of it. */
import { addUsd } from '../../../journal/facts/add-usd.js';
import type { EventOf, FactOf, JournalEvent, Usage } from '../../../journal/event.js';
import { causeOfCall, flawOf, type CallCause } from './failure-class.js';

export type EndOfCall = EventOf<'call.completed' | 'call.failed' | 'call.reused'>;

export type AttemptStart = Pick<FactOf<'call.started'>, 'type' | 'key' | 'op' | 'fn' | 'lane' | 'attempt' | 'try' | 'received'> &
  PlaceInCall;
export type Reuse = FactOf<'call.reused'> & PlaceInCall;

interface PlaceInCall {
  /** As `isRequested` in `requested-executions.ts` says, where the count does not see the call around. */
  readonly isRequested?: boolean;
}

type Completion = Pick<
  FactOf<'call.completed'>,
  | 'type'
  | 'key'
  | 'op'
  | 'elapsedMs'
  | 'usage'
  | 'onlyCalls'
  | 'callUsage'
  | 'repeatedUsd'
  | 'unresolvedInside'
  | 'class'
  | 'exitCode'
  | 'denied'
  | 'unusable'
>;
export type AttemptEnd = Completion | FactOf<'call.failed'>;

/** The part of a fact about a call that is counted: a call of which nothing is recorded has no more. */
export type CountedFact = AttemptStart | AttemptEnd | FactOf<'call.withdrawn'> | Reuse;

export type CallOutcome = 'executed' | 'reused' | 'failed' | 'denied' | 'not-executed';

/** `waited`: the run ended while the call waited for its lane, or for a call inside it, so that it has not failed. */
export type AttemptOutcome = CallOutcome | 'waited';

export interface EndedCall {
  readonly outcome: CallOutcome;
  readonly durationMs?: number | undefined;
  readonly usage?: Usage | undefined;
  /** Its last attempt did nothing but make calls, whose cost is theirs. */
  readonly onlyCalls?: true | undefined;
  /** The message of its failure, or the reason for which its result may not be reused. */
  readonly message?: string | undefined;
  /** The code of the error of a failed call; undefined where the journal does not have one. */
  readonly errorCode?: string | undefined;
  /** Present for a failed call. */
  readonly cause?: CallCause | undefined;
  /** Its function says what to do about the failure. */
  readonly isAccepted?: true | undefined;
}

/** Returns whether the event ends a call: a failure that another attempt follows does not, nor does the end of a run in which it waited. */
export function isEndOfCall(event: JournalEvent | CountedFact): event is EndOfCall {
  if (event.type !== 'call.failed') return event.type === 'call.completed' || event.type === 'call.reused';
  return event.retryInMs === undefined && event.waited === undefined;
}

/** Returns the outcome of a call from the event that ended it. */
export function endedCall(event: AttemptEnd | FactOf<'call.reused'>): EndedCall {
  switch (event.type) {
    case 'call.reused':
      return { outcome: 'reused' };
    case 'call.failed': {
      const { message, code, accepted } = event;
      if (event.denied === true) return { outcome: 'denied', ...measuresOf(event), message, errorCode: code ?? 'DENIED' };
      const outcome = event.class === 'upstream' ? 'not-executed' : 'failed';
      const cause = causeOfCall(event);
      return { outcome, ...measuresOf(event), message, errorCode: code, cause, ...(accepted && { isAccepted: true }) };
    }
    case 'call.completed': {
      const { elapsedMs: durationMs, usage, onlyCalls, unusable: message } = event;
      const flaw = flawOf(event);
      if (flaw === undefined) return { outcome: 'executed', durationMs, usage, onlyCalls, message };
      if (flaw === 'denied') return { outcome: 'denied', durationMs, usage, onlyCalls, message, errorCode: 'DENIED' };
      const isAccepted = event.class === undefined ? undefined : true;
      const cause = event.class ?? 'crash';
      return { outcome: 'failed', durationMs, usage, onlyCalls, message, errorCode: 'COMMAND_FAILED', cause, isAccepted };
    }
  }
}

/** Returns the outcome of an attempt. One of a call that waited has a cause where the attempt itself had failed. */
export function endedAttempt(event: AttemptEnd): Omit<EndedCall, 'outcome'> & { readonly outcome: AttemptOutcome } {
  const end = endedCall(event);
  return event.type === 'call.failed' && event.waited ? { ...end, outcome: 'waited', cause: event.class } : end;
}

/** Returns what the event says about the time and the cost of its attempt. */
export function measuresOf({
  elapsedMs,
  usage,
  onlyCalls,
}: Pick<AttemptEnd, 'elapsedMs' | 'usage' | 'onlyCalls'>): Pick<EndedCall, 'durationMs' | 'usage' | 'onlyCalls'> {
  return { durationMs: elapsedMs, usage, onlyCalls };
}

/**
 * Returns what a call of which nothing was executed had cost, because guards judged the result of an earlier execution: without the
 * executions that a guard requested, which are calls inside it. Undefined where it is not known.
 */
export function costOfJudged({ callUsage, repeatedUsd = 0 }: Pick<AttemptEnd, 'callUsage' | 'repeatedUsd'>): number | undefined {
  const { costUsd } = callUsage ?? {};
  return costUsd === undefined || costUsd <= repeatedUsd ? undefined : addUsd(costUsd, -repeatedUsd);
}
