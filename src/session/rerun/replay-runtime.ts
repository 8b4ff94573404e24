/** What a replay plays in: the world of the record, its order, and whether it goes on. Script and pipeline share it. */
import path from 'node:path';
import type { Fact } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { hasTurn, isWhole, nextTurn, notGiven, type RecordedEffect, type Recording } from '../../../replay/recording/recorded-world.js';
import type { Frame } from '../../runtime/frame.js';
import type { ResultCache } from '../../runtime/result-cache.js';
import type { Recorder } from '../../runtime/recorder.js';
import type { Value } from '../../values/value.js';
import { concealValue } from '../ports/conceal.js';
import type { Divergence } from './divergence.js';
import type { ReplayOptions, StopPoint } from './replay-options.js';
import { createReplayOrder, type ReplayOrder } from './replay-order.js';
import { changedCall, createReplayedCache } from './replayed-cache.js';
import { createReplayedHooks, type ReplayedHooks } from './replayed-hooks.js';
import { createReplayedWorld, endOfReplay, type ReplayedWorld } from './replayed-world.js';

/** Whether the replay goes on, and what it met on its way. */
export interface ReplayControl {
  readonly signal: AbortSignal;
  readonly divergences: Divergence[];
  readonly ended: Promise<undefined>;
  /** Notes it, and says whether the replay goes on. */
  readonly diverge: (divergence: Divergence) => boolean;
  readonly end: () => void;
}

export interface ReplayRuntime {
  readonly control: ReplayControl;
  readonly order: ReplayOrder;
  readonly replayedWorld: ReplayedWorld;
  readonly hooks: ReplayedHooks;
  readonly cache: ResultCache;
  /** Takes what is said of calls and checkpoints, each in its turn. */
  readonly recorder: Recorder;
  /** Somebody waits for what the record does not have. */
  readonly stuck: () => void;
  /** Ends the replay in front of this event. Without an operation it is that of whoever asked last. */
  stopAt(seq: number, op?: OpPath): void;
  /** Where it was stopped. */
  stopped(): StopPoint | undefined;
  /** The frame of whoever asked last is looked at; this one until somebody asks. */
  enter(frame: Frame): void;
}

export interface ReplayRuntimeOptions {
  readonly options: ReplayOptions;
  readonly recording: Recording;
  readonly root: string;
  /** It stops behind this event. */
  readonly lastSeq: number;
  readonly variablesAt: (frame: Frame, op: OpPath) => StopPoint['variables'];
  readonly isCalledOff?: (answer: RecordedEffect) => boolean;
  /** A fact that was told in its turn. */
  readonly onFact?: (fact: Fact) => void;
}

export function createReplayRuntime({
  options,
  recording,
  root,
  lastSeq,
  variablesAt,
  isCalledOff,
  onFact: onTold,
}: ReplayRuntimeOptions): ReplayRuntime {
  const { store, sinks, sourceText } = options;
  const course = createReplayControl(options.divergences);
  let stopped: StopPoint | undefined;
  let last: Frame | undefined;
  const stopAt = (seq: number, op = last?.op.path): void => {
    if (last && op !== undefined) stopped ??= { seq, op, variables: variablesAt(last, op) };
    course.end();
  };
  const order = createReplayOrder((seq, waiting) => {
    if (course.signal.aborted) return false;
    last = waiting ?? last;
    if (seq > lastSeq) {
      stopAt(seq);
      return false;
    }
    if (!options.onStep || seq < 0 || !last) return true;
    const { path: op } = last.op;
    return options.onStep({ seq, op, variables: variablesAt(last, op) }).then((next) => {
      if (next === 'stop') stopAt(seq);
      return next === 'go on';
    });
  });
  const stuck = (): void => void order.idle().then(course.end);
  const hooks = createReplayedHooks(recording, order);
  const replayed = createReplayedWorld({
    store,
    recording,
    order,
    sinks,
    diverge: course.diverge,
    onStuck: stuck,
    hooks,
    ...(isCalledOff ? { isCalledOff } : {}),
    ...(sourceText ? { currentText: (file) => currentSource(recording, root, file, sourceText) } : {}),
  });
  const answers = createReplayedCache({
    store,
    root,
    recording,
    order,
    diverge: course.diverge,
    placeFile: (name, file) => replayed.files.set(path.resolve(root, name), file),
  });
  const recorder: Recorder = {
    on: false,
    post: () => undefined,
    async append(fact) {
      if ('op' in fact && hooks.isInside(fact.op) && !hasTurn(recording, fact.type, fact.op)) return new Promise(() => {});
      const release = order.hold();
      const change = fact.type === 'call.started' ? await changedCall(recording, store, fact).finally(release) : undefined;
      release();
      if (change && isWhole(recording) && !course.diverge(change)) throw endOfReplay();
      const about = 'op' in fact ? fact.op : 'name' in fact ? fact.name : '';
      await order.waitFor(nextTurn(recording, fact.type, about) ?? -1);
      onTold?.(fact);
      return undefined;
    },
  };
  return {
    control: course,
    order,
    replayedWorld: replayed,
    hooks,
    cache: answers,
    recorder,
    stuck,
    stopAt,
    stopped: () => stopped,
    enter: (frame) => void (last = frame),
  };
}

function createReplayControl(wanted: ReplayOptions['divergences']): ReplayControl {
  const controller = new AbortController();
  const divergences: Divergence[] = [];
  const { signal } = controller;
  const ended = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
  const end = (): void => controller.abort('failed');
  const diverge = (divergence: Divergence): boolean => {
    if (wanted === 'first' && divergences.length > 0) return false;
    divergences.push(divergence);
    if (wanted === 'first') end();
    return wanted === 'all';
  };
  return { signal, divergences, ended, diverge, end };
}

async function currentSource(
  { sources }: Recording,
  root: string,
  file: string,
  read: NonNullable<ReplayOptions['sourceText']>,
): Promise<string | undefined> {
  const relative = path.relative(root, file);
  const name = relative.startsWith('..') ? file : relative.replaceAll(path.sep, '/');
  return sources.has(name) ? read(name) : undefined;
}

/** The nearest one of a name comes first. What is secret is not told. */
export function inScope({ scope: innermost, run: { secrets } }: Frame): StopPoint['variables'] {
  const variables = new Map<string, Value>();
  for (let scope: Frame['scope'] | undefined = innermost; scope; scope = scope.parent)
    for (const { name, value, kind } of scope.entries()) if (kind !== 'ambient' && !variables.has(name)) variables.set(name, value);
  return [...variables].map(([name, value]) => ({ name, value: concealValue(value, secrets) }));
}

export interface ReplayEnd {
  readonly code?: string | undefined;
  readonly message?: string;
  /** Of a pipeline: where the run behind it begins. */
  readonly next?: string | undefined;
}

/** What is only known when all is over: something was left out, or the run ended in another way. */
export function endDivergences(
  recording: Recording,
  actual: ReplayEnd | undefined,
  isMissed: (answer: RecordedEffect) => boolean = () => true,
): readonly Divergence[] {
  const [left] = notGiven(recording).filter(
    (answer) => answer.kind !== 'clock.sleep' && answer.holds !== 'interrupted' && isMissed(answer),
  );
  if (left) return [{ reason: 'missing', op: left.op, kind: left.kind, expected: { seq: left.seq, subject: left.subject } }];
  if (!isWhole(recording)) return [];
  const { error, next } = recording.finished ?? {};
  const expected: ReplayEnd = { ...error, next };
  if (expected.code === actual?.code && next === actual?.next) return [];
  return [
    {
      reason: 'ending',
      op: 'main' as OpPath,
      kind: 'run',
      expected: { seq: recording.last, subject: describeEnd(expected) },
      actual: { subject: describeEnd(actual) },
    },
  ];
}

function describeEnd({ code, message, next }: ReplayEnd = {}): string {
  if (code !== undefined) return `${code}: ${message}`;
  return next === undefined ? 'completed' : `restarted at ${next}`;
}
