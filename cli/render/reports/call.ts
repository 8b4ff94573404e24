/** Renders `mlld journal cat`: what happened to a call, its arguments and its result, whole. */
import type { Json } from '../../../journal/event.js';
import { atHost } from '../../../src/api/commands/words.js';
import { describeEvent } from '../../../src/api/reports/events.js';
import type { CallRecord, ReadPayload, RecordedAttempt } from '../../../src/api/reports/call.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { duration, money } from '../units.js';

export function renderCall(call: CallRecord, style: Style): string {
  const { fn, op, run, received, attempts, decisions, arguments: given, result } = call;
  const lines = [
    style.bold(`@${fn} at ${oneLine(op)} of run ${run}: ${howItEnded(call)}`),
    ...(received === undefined ? [] : [`  its guards judged the result that event ${received.seq} of run ${received.run} has`]),
    ...attempts.flatMap((attempt) => attemptLines(attempt, style)),
    ...decisions.map((event) => `  ${oneLine(describeEvent(event))}`),
    ...argumentLines(given, style),
    '',
    style.dim('result'),
    textOf(result),
  ];
  return `${lines.join('\n')}\n`;
}

function howItEnded({ outcome, from, run, workflow, worker, workerHost }: CallRecord): string {
  const at = worker === undefined ? '' : ` at the worker ${oneLine(atHost(worker, workerHost))}`;
  if (from === undefined) return `${outcome.replace('-', ' ')}${at}`;
  const where = from.workflow === workflow ? '' : ` of ${from.workflow}`;
  return `${worker === undefined ? 'reused' : `executed${at},`} from event ${from.seq}${from.run === run ? '' : ` of run ${from.run}`}${where}`;
}

function attemptLines(
  { try: number, outcome, elapsedMs, class: failureClass, message, usage, excerpt }: RecordedAttempt,
  style: Style,
): string[] {
  const took = elapsedMs === undefined ? '' : ` after ${duration(elapsedMs)}`;
  const cause = failureClass === undefined ? '' : ` (${failureClass})`;
  const tokens = [usage?.inputTokens, usage?.outputTokens].every((count) => count === undefined)
    ? []
    : [`${usage?.inputTokens ?? '?'} tokens in, ${usage?.outputTokens ?? '?'} out`];
  const told = [usage?.model, ...tokens, usage?.costUsd === undefined ? undefined : money(usage.costUsd)].filter(
    (part) => part !== undefined,
  );
  const head = `  attempt ${number}: ${outcome}${cause}${took}${told.length === 0 ? '' : `, ${told.join(', ')}`}${message === undefined ? '' : `: ${message}`}`;
  return [oneLine(head), ...(excerpt === undefined ? [] : [style.dim('  its reply began'), textOf(excerpt)])];
}

/** A call with one argument shows it as it is. */
function argumentLines(given: ReadPayload, style: Style): string[] {
  if (!('value' in given) || !Array.isArray(given.value)) return ['', style.dim('arguments'), textOf(given)];
  const list = given.value as readonly Json[];
  if (list.length === 0) return ['', style.dim('no arguments')];
  return list.flatMap((value, index) => ['', style.dim(list.length === 1 ? 'argument' : `argument ${index + 1}`), textOf({ value })]);
}

function textOf(payload: ReadPayload): string {
  if (!('value' in payload)) return `(${payload.missing})`;
  return typeof payload.value === 'string' ? payload.value.replace(/\n$/, '') : JSON.stringify(payload.value, undefined, 2);
}
