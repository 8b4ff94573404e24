/** Builds what the replays of scripts and pipelines share: the recorded world, hooks and cache, their order, and the end of the replay. */
import path from 'node:path';
import type { Fact } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { hasHandover, isWhole, nextHandover, type RecordedEffect, type Recording } from '../../../replay/recording/recorded-world.js';
import type { Frame } from '../../runtime/frame.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { Recorder } from '../../runtime/recorder.js';
import type { Value } from '../../values/value.js';
import { concealValue } from '../ports/conceal.js';
import type { Divergence } from './divergence.js';
import type { ReplayOptions, StopPoint } from './replay-options.js';
import { createReplayOrder, type ReplayOrder } from './replay-order.js';
import { changedCall, createReplayedCache } from './replayed-cache.js';
import { createReplayedCalls, type ReplayedCalls } from './replayed-calls.js';
import { createReplayedHooks, type ReplayedHooks } from './replayed-hooks.js';
import { createReplayedWorld, endOfReplay, type ReplayedWorld } from './replayed-world.js';

/** Collects divergences, and ends the replay. */
export interface ReplayControl {
  /** Aborted when the replay ends. */
  readonly signal: AbortSignal;
  readonly divergences: Divergence[];
  /** Resolves when the replay is ended from here; never if the script ends by itself. */
  readonly ended: Promise<undefined>;
  /** Records the divergence; returns true if the replay continues. */
  readonly diverge: (divergence: Divergence) => boolean;
  readonly end: () => void;
}

export interface ReplayRuntime {
  readonly control: ReplayControl;
  readonly order: ReplayOrder;
  readonly replayedWorld: ReplayedWorld;
  readonly hooks: ReplayedHooks;
  readonly calls: Pick<ReplayedCalls, 'call'>;
  readonly cache: ResultCache;
  /** Compares calls and checkpoints with the record, in the order of the record. */
  readonly recorder: Recorder;
  /** Called when code waits for something that the record does not have: ends the replay as soon as nothing else happens. */
  readonly stuck: () => void;
  /** Ends the replay before this event. By default at the operation that performed the last effect. */
  stopAt(seq: number, op?: OpPath): void;
  /** Undefined when it was not stopped by `stopAt`. */
  stopped(): StopPoint | undefined;
  /** Sets the frame whose variables a stop shows; every effect sets it to its own. */
  enter(frame: Frame): void;
}

export interface ReplayRuntimeOptions {
  readonly options: ReplayOptions;
  readonly recording: Recording;
  readonly root: string;
  /** The replay stops after this event. */
  readonly lastSeq: number;
  readonly variablesAt: (frame: Frame, op: OpPath) => StopPoint['variables'];
  readonly isCalledOff?: ((effect: RecordedEffect) => boolean) | undefined;
  /** Called with each fact that the recorder received, in the order of the record. */
  readonly onFact?: ((fact: Fact) => void) | undefined;
}

export function createReplayRuntime({
  options,
  recording,
  root,
  lastSeq,
  variablesAt,
  isCalledOff,
  onFact,
}: ReplayRuntimeOptions): ReplayRuntime {
  const { store, sinks, sourceText } = options;
  const control = createReplayControl(options.divergences);
  let stopped: StopPoint | undefined;
  let last: Frame | undefined;
  const stopAt = (seq: number, op = last?.op.path): void => {
    if (last && op !== undefined) stopped ??= { seq, op, variables: variablesAt(last, op) };
    control.end();
  };
  const order = createReplayOrder((seq, waiting) => {
    if (control.signal.aborted) return false;
    last = waiting ?? last;
    if (seq > lastSeq) {
      stopAt(seq);
      return false;
    }
    if (!options.onStep || seq < 0 || !last) return true;
    const { path: op } = last.op;
    return options.onStep({ seq, op, variables: variablesAt(last, op) }).then((next) => {
      if (next === 'stop') stopAt(seq);
      return next === 'continue';
    });
  });
  const stuck = (): void => void order.idle().then(control.end);
  const hooks = createReplayedHooks(recording, order);
  const calls = createReplayedCalls({ store, recording, order, onStuck: stuck });
  const isCut = (op: OpPath): boolean => hooks.isInside(op) || calls.isOvertime(op);
  /** A call whose time is over starts no other one. What is in flight inside it ends, so that it learns of that. */
  const isCutShort = (type: Fact['type'], op: OpPath | undefined): boolean =>
    op !== undefined && (hooks.isInside(op) || (type === 'call.started' && calls.isOvertime(op)));
  const replayedWorld = createReplayedWorld({
    isCut,
    store,
    recording,
    order,
    sinks,
    diverge: control.diverge,
    onStuck: stuck,
    calls,
    isCalledOff,
    currentText: sourceText && ((file) => currentSource(recording, root, file, sourceText)),
  });
  const cache = createReplayedCache({
    store,
    root,
    recording,
    order,
    diverge: control.diverge,
    placeFile: (name, file) => replayedWorld.files.set(path.resolve(root, name), file),
  });
  const recorder: Recorder = {
    on: false,
    post: () => undefined,
    async append(fact) {
      if ('op' in fact && isCutShort(fact.type, fact.op) && !hasHandover(recording, fact.type, fact.op)) return new Promise(() => {});
      const release = order.hold();
      const change = fact.type === 'call.started' ? await changedCall(recording, store, fact).finally(release) : undefined;
      release();
      if (change && isWhole(recording) && !control.diverge(change)) throw endOfReplay();
      const about = 'op' in fact ? fact.op : 'name' in fact ? fact.name : '';
      await order.waitFor(nextHandover(recording, fact.type, about) ?? -1);
      onFact?.(fact);
      return undefined;
    },
  };
  return {
    control,
    order,
    replayedWorld,
    hooks,
    calls,
    cache,
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

/** Lists the variables in scope; an inner one hides an outer one of the same name. Secret values are replaced by a mark. */
export function inScope({ scope: innermost, run: { secrets } }: Frame): StopPoint['variables'] {
  const variables = new Map<string, Value>();
  for (let scope: Frame['scope'] | undefined = innermost; scope; scope = scope.parent)
    for (const { name, value, kind } of scope.entries()) if (kind !== 'ambient' && !variables.has(name)) variables.set(name, value);
  return [...variables].map(([name, value]) => ({ name, value: concealValue(value, secrets) }));
}
