/** One sentence per event, for `journal show`, and which events it shows. */
import { atHost } from '../team/at-host.js';
import type { EventOf, FactType, JournalEvent, Payload } from '../../../journal/event.js';
import { wordsOfAttempt } from '../../../journal/facts/attempt-number.js';
import { recordedCounts } from '../../fold/recorded-counts.js';
import { ownEventOf } from '../../../journal/own-fact.js';
import { isInside } from '../../fold/op-path.js';
import { duration } from '../../fold/duration.js';
import { previewOf } from '../../fold/preview.js';

/** A row per kind: a new one doesn't compile until it has its sentence. */
const SENTENCES: { readonly [T in FactType]: (event: EventOf<T>) => string } = {
  'run.started': ({ name, argv, forks = [], versions }) =>
    `run of ${name} started by mlld ${versions.mlld} on node ${versions.node}${given('arguments', argv)}${given(
      'forks from',
      forks.map((fork) => fork.workflow),
    )}`,
  'run.finished': ({ status, error, totals }) => {
    const { executed, reused, failed, accepted = 0, denied = 0, notExecuted = 0 } = recordedCounts(totals) ?? totals;
    const parts = [
      `${executed} executed`,
      `${reused} reused`,
      `${failed} failed${accepted === 0 ? '' : ` (${accepted} of them accepted)`}`,
      ...(denied === 0 ? [] : [`${denied} denied`]),
      ...(notExecuted === 0 ? [] : [`${notExecuted} not executed`]),
    ];
    return `run ${status}${error === undefined ? '' : `: ${error.message}`} (${parts.join(', ')})`;
  },
  'source.loaded': ({ role, path, module }) =>
    module === undefined
      ? `read the ${role} ${path}`
      : `read the module ${module.name}${module.version === undefined ? '' : ` ${module.version}`} (${module.sha256.slice(0, 12)})`,
  'definition.recorded': ({ fn, parts }) => `@${fn} is defined by ${parts.length === 1 ? 'one part' : `${parts.length} parts`}`,
  'op.started': ({ kind, name, item, total, group }) =>
    `${kind}${name === undefined ? '' : ` ${name}`} started${group === undefined ? '' : ` in phase "${group}"`}${item === undefined ? '' : ` with ${short(item)}`}${total === undefined ? '' : ` over ${total} items`}`,
  'op.finished': ({ outcome, message }) => `ended: ${outcome}${because(message)}`,
  'call.offered': ({ fn, lane }) => `@${fn} offered to workers${lane === undefined ? '' : ` with slots for the lane ${lane}`}`,
  'call.started': ({ fn, args, preview, attempt, try: tried, worker, workerHost, received }) =>
    `@${fn} ${worker === undefined ? 'called' : `executed by the worker ${atHost(worker, workerHost)}: called`}${withArgument(preview ?? previewOf(args))}${attempt === undefined ? '' : ` (${wordsOfAttempt(attempt)})`}${tried === undefined ? '' : ` (try ${tried})`}${received === undefined ? '' : `; its body is not executed: guards judge the result that event ${received.seq} of ${received.run} has`}`,
  'call.completed': ({ elapsedMs, result, usage, unusable }) =>
    `completed in ${duration(elapsedMs)} with ${payload(result)}${usage?.costUsd === undefined ? '' : ` for $${usage.costUsd}`}${unusable === undefined ? '' : `, not reusable: ${unusable}`}`,
  'call.withdrawn': ({ to }) =>
    to === undefined ? 'withdrawn before its body began: the run must stop' : `withdrawn before its body began: run ${to} has the call`,
  'call.superseded': ({ of, by }) => `superseded: event ${by.seq} of ${by.run} is used instead of event ${of}, which was paid for in vain`,
  'call.reused': ({ fn, from, preview, worker, workerHost }) =>
    `@${fn}${withArgument(preview)} ${worker === undefined ? 'reused' : `executed by the worker ${atHost(worker, workerHost)}: reused`} from event ${from.seq} of ${from.run}${from.workflow === undefined ? '' : ` of ${from.workflow}`}`,
  'call.failed': ({ message, denied, class: failureClass, retryInMs }) =>
    `${retryInMs === undefined ? 'call' : 'attempt'} ${denied === true ? 'denied' : failureClass === 'upstream' ? 'not executed' : 'failed'}${failureClass === undefined ? '' : ` (${failureClass})`}: ${message}${retryInMs === undefined ? '' : `, another attempt follows in ${duration(retryInMs)}`}`,
  'lane.changed': ({ lane, why, limit, gapMs, heldUntil }) =>
    `lane ${lane} ${why}: at most ${limit} at a time${gapMs === undefined ? '' : `, ${duration(gapMs)} apart`}${heldUntil === undefined ? '' : `, held until ${heldUntil}`}`,
  'dispatch.stopped': ({ class: stopClass, lane, message, resetsAt }) =>
    `no attempt is started any more${lane === undefined ? '' : ` in lane ${lane}`} (${stopClass})${because(message)}${resetsAt === undefined ? '' : `, resets at ${resetsAt}`}`,
  'dispatch.resumed': ({ lane }) => `lane ${lane} starts attempts again`,
  'result.received': ({ elapsedMs, result, usage }) =>
    `received ${payload(result)} in ${duration(elapsedMs)}${usage?.costUsd === undefined ? '' : ` for $${usage.costUsd}`}; guards judge it`,
  'result.rejected': ({ from, op, reason }) => `the result of ${op} in ${from.run} is rejected${because(reason)}`,
  'result.restored': ({ from, op }) => `the result of ${op} in ${from.run} is usable again`,
  'effect.performed': ({ kind, subject, error }) => `${kind} ${subject}${because(error)}`,
  'process.started': ({ group }) => `process group ${group} started`,
  'hook.fired': ({ hook, timing, filter, transformed, error }) =>
    `hook ${hook} ran ${timing} ${filter}${transformed ? ' and changed the value' : ''}${because(error)}`,
  'guard.decided': ({ guard, timing, filter, decision, reason, transformed }) =>
    `guard ${guard} ${timing} ${filter}: ${decision}${transformed ? ' with another value' : ''}${because(reason)}`,
  'checkpoint.reached': ({ name, resume, ttlMs }) =>
    `checkpoint "${name}" reached${resume === undefined ? '' : `, resume ${resume}`}${ttlMs === undefined ? '' : `, ttl ${duration(ttlMs)}`}`,
  'checkpoint.closed': ({ name, complete }) =>
    `checkpoint "${name}" closed${complete === undefined ? '' : complete ? ', complete' : ', not complete'}`,
  'memo.invalidated': ({ selector, keys, borrowed }) =>
    `${selector} invalidated ${keys.length} ${borrowed === true ? 'forked ' : ''}result${keys.length === 1 ? '' : 's'}`,
  'memo.reset': ({ reason }) => `all earlier results invalidated (${reason})`,
  'node.started': ({ node, visit, handler, branch, fidelity }) =>
    `${node} (${handler}) started${visit === 0 ? '' : `, visit ${visit}`}${branch === undefined ? '' : ` in branch ${branch.id} of ${branch.of}`}${fidelity === undefined ? '' : `, fidelity ${fidelity.mode}`}`,
  'node.finished': ({ node, status, outcome, attempts, elapsedMs }) =>
    `${node} ended ${status} in ${duration(elapsedMs)}${attempts === 1 ? '' : ` after ${attempts} attempts`}${because(outcome.failure_reason === '' ? undefined : outcome.failure_reason)}`,
  'edge.selected': ({ from, to, via, label, condition }) =>
    `${from} -> ${to} by ${via}${condition === undefined ? '' : ` ${condition}`}${label === undefined ? '' : ` ${short(label)}`}`,
  'context.updated': ({ updates, by }) => `context set by ${by}: ${Object.keys(updates).join(' ')}`,
  'gate.checked': ({ satisfied, node, target }) =>
    satisfied ? 'the goal gates are met' : `the goal gate ${node} is not met${target === undefined ? '' : `, back to ${target}`}`,
  'retry.scheduled': ({ node, attempt, delayMs, reason }) =>
    `${node} is tried again in ${duration(delayMs)} (retry ${attempt})${because(reason)}`,
  'question.asked': ({ id, text, options }) =>
    `${id} asked: ${short(text)}${given(
      'options',
      options.map(({ label }) => label),
    )}`,
  'question.answered': ({ id, answer, by }) => `${id} answered by ${by}: ${short(answer)}`,
  'artifact.removed': ({ id }) => `artifact ${id} removed`,
  'artifact.stored': ({ id, sizeBytes }) => `artifact ${id} stored, ${sizeBytes} bytes`,
};

/** Describes an event of an unknown type: only facts of an embedding program have more to show than the type. */
export function describeEvent(event: JournalEvent): string {
  // Sound because the table's type pairs every kind with its own event.
  const sentence = SENTENCES[event.type] as ((event: JournalEvent) => string) | undefined;
  if (sentence !== undefined) return sentence(event);
  const own = ownEventOf(event);
  return own === undefined ? event.type : `${own.type} ${payload(own.data)}`;
}

export interface EventFilter {
  /** A whole type (`call.completed`) or its group (`call`). */
  readonly types?: readonly string[] | undefined;
  /** A path: the operation itself and what is inside it. */
  readonly op?: string | undefined;
}

export function matchesFilter(event: JournalEvent, { types, op }: EventFilter): boolean {
  if (types !== undefined && !types.some((type) => event.type === type || event.type.startsWith(`${type}.`))) return false;
  if (op === undefined) return true;
  return 'op' in event && isInside(event.op, op);
}

const SENTENCE_UNITS_MAX = 80;

function short(text: string): string {
  const line = text.replaceAll('\n', '\\n');
  return `"${line.length > SENTENCE_UNITS_MAX ? `${line.slice(0, SENTENCE_UNITS_MAX - 3)}...` : line}"`;
}

function withArgument(preview: string | undefined): string {
  return preview === undefined ? '' : ` with ${short(preview)}`;
}

function because(message: string | undefined): string {
  return message === undefined ? '' : `: ${message}`;
}

function given(title: string, words: readonly string[]): string {
  return words.length === 0 ? '' : `, ${title} ${words.join(' ')}`;
}

function payload(result: Payload): string {
  if ('inline' in result) return short(typeof result.inline === 'string' ? result.inline : JSON.stringify(result.inline));
  if ('blob' in result) return `${result.bytes} bytes`;
  if ('sealed' in result) return 'a sealed value';
  if ('digest' in result) return 'a secret that was not kept';
  return `a value that was taken out: ${result.redacted}`;
}
