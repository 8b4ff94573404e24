/**
 * A run of small real parts, for tests of a single stage: its recorder keeps facts in a list, its result cache finds the results among
 * them, and its clock advances by a millisecond with each look.
 */
import { RunUsage } from '../../src/runtime/calls/run-usage.js';
import type { Expression, Statement } from '../../grammar/ast.js';
import type { Fact, FactOf, Json, Payload } from '../../journal/event.js';
import { seqOf, type CallKey, type Fingerprint, type RunId } from '../../journal/ids.js';
import type { Recorded } from '../../journal/store.js';
import { createModule } from '../../src/language/source-module.js';
import { decodeResult } from '../../src/operation/encode-result.js';
import type { Completion } from '../../src/runtime/completion.js';
import { OUTERMOST } from '../../src/runtime/context.js';
import { CooperativeYield } from '../../src/runtime/cooperative-yield.js';
import { PLAIN, type Frame, type RunState } from '../../src/runtime/frame.js';
import { OpNode } from '../../src/runtime/op-node.js';
import { InFlightCalls } from '../../src/runtime/calls/in-flight-calls.js';
import type { Interceptors } from '../../src/runtime/ports.js';
import type { CachedResult, CacheQuery, ResultCache } from '../../src/runtime/calls/result-cache.js';
import { recordedResultLabels } from '../../src/runtime/calls/result-labels.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import type { Value } from '../../src/values/value.js';
import { FakeWorld } from './fake-world.js';
import { CollectedFailures } from '../../src/values/failures.js';

const RUN = '20260101-000000-000-bare' as RunId;

export interface BareRun {
  readonly run: RunState;
  readonly frame: Frame;
  readonly facts: Fact[];
  readonly warnings: string[];
  readonly world: FakeWorld;
}

export interface BareOptions extends Partial<Pick<RunState, 'interceptors' | 'calls' | 'recorder'>> {
  readonly policy?: { readonly records: boolean; readonly reuses: boolean };
  readonly files?: { readonly [path: string]: string };
  readonly evaluate?: (node: Expression, frame: Frame) => Promise<Value>;
  readonly execute?: (statements: readonly Statement[], frame: Frame) => Promise<Completion>;
}

export function bareRun(options: BareOptions = {}): BareRun {
  const { policy = { records: true, reuses: true }, files = {}, interceptors = WITHOUT_INTERCEPTORS } = options;
  const facts: Fact[] = [];
  const warnings: string[] = [];
  const world = new FakeWorld({ files });
  const signal = new AbortController().signal;
  let nowMs = 0;
  const recorder: RunState['recorder'] = options.recorder ?? {
    on: true,
    post: (fact) => void facts.push(fact),
    append: async (fact) => recordedAt(facts.push(fact)),
  };
  const run: RunState = {
    world,
    recorder,
    ...(options.calls && { calls: options.calls }),
    usage: new RunUsage(),
    cache: cacheOver(facts, policy),
    secrets: new SecretRegistry(),
    document: {
      show: async () => undefined,
      prose: async () => undefined,
      write: async () => undefined,
      note: () => undefined,
      text: () => '',
    },
    evaluator: { lookUp: unused, call: unused, render: unused, stages: unused, outcome: unused },
    interceptors,
    settings: {
      projectRoot: '/p',
      scriptDirectory: '/p',
      workingDirectory: '/p',
      prefixes: [],
      payload: {},
      injected: new Map(),
      hasState: false,
      errorBehavior: 'continue',
      streaming: true,
      recursionDepth: 64,
      parallelLimit: 4,
      hookLimitMs: 60_000,
    },
    hookErrors: [],
    failures: new CollectedFailures(),
    failedCommands: [],
    unrecordedResults: 0,
    stateWrites: [],
    denials: [],
    modules: new Map(),
    checkpoints: new Set(),
    state: undefined,
    deniedInside: new WeakSet(),
    repeatedInside: new WeakMap(),
    signal,
    cooperativeYield: new CooperativeYield(signal),
    monotonicMs: () => nowMs++,
    warn: (message) => void warnings.push(message),
    isVerbose: false,
    writeWarnings: () => undefined,
  };
  const module = createModule({ path: '/p/main.mld', display: 'main.mld', directory: '/p', text: '', isMain: true });
  const frame: Frame = {
    run,
    module,
    scope: module.scope,
    op: OpNode.root(),
    context: { ...OUTERMOST, errors: { list: [] } },
    within: 'script',
    evaluate: options.evaluate ?? unused,
    execute: options.execute ?? unused,
    ...PLAIN,
  };
  return { run, frame, facts, warnings, world };
}

export const WITHOUT_INTERCEPTORS: Interceptors = {
  active: false,
  hooks: { watchesBatches: false, watch: () => undefined },
  guards: { watch: () => undefined },
  registerHook: () => undefined,
  registerGuard: () => undefined,
  holding: () => [],
  neededBehind: () => undefined,
  guardsByLabel: () => [],
};

/** Waits until everything that can continue has continued. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function recordedAt(seq: number): Recorded {
  return {
    seq: seqOf(seq),
    ts: '2026-01-01T00:00:00.000Z',
    hash: 'h',
    position: { offset: 0, bytes: 0 } as unknown as Recorded['position'],
  };
}

function cacheOver(facts: readonly Fact[], policy: { readonly records: boolean; readonly reuses: boolean }): ResultCache {
  const declined = new Set<CallKey>();
  const place = placesOfResults(facts);
  return {
    policy: () => policy,
    files: { keepsNewer: false, keep: async () => undefined, content: async () => undefined, wrote: async () => false },
    recordedDefinitions: new Set<Fingerprint>(),
    inFlight: new InFlightCalls(),
    lookup: ({ key }: CacheQuery) => (policy.reuses && !declined.has(key) ? resultAt(facts, place(key)) : undefined),
    decline: ({ key }) => void declined.add(key),
    recall: (_recorded, _encoded, _call, fresh) => fresh,
    payload: (value: Json): Payload => ({ inline: value }),
    preview: (args) => JSON.stringify(args[0]),
    secretPayload: async (_value, about) => ({ sealed: `sealed ${about}`, keyId: 'k' }),
    secretKeys: async () => (key) => `keyed ${key}` as CallKey,
    digest: async (text) => `keyed ${text.length}`,
    hold: () => undefined,
    keepText: async () => undefined,
    enterScope: () => undefined,
    warnStaleHit: () => undefined,
  };
}

/** Finds the first usable result of a key. Facts are only added, so each is looked at once: some tests make thousands of calls. */
function placesOfResults(facts: readonly Fact[]): (key: CallKey) => number {
  const places = new Map<CallKey, number>();
  let seen = 0;
  return (key) => {
    for (; seen < facts.length; seen++) {
      const fact = facts[seen] as Fact;
      if (fact.type === 'call.completed' && fact.unusable === undefined && !places.has(fact.key)) places.set(fact.key, seen);
    }
    return places.get(key) ?? -1;
  };
}

function resultAt(facts: readonly Fact[], seq: number): CachedResult | undefined {
  const completed = facts[seq] as FactOf<'call.completed'> | undefined;
  if (completed === undefined || !('inline' in completed.result)) return undefined;
  const { key, result, form } = completed;
  return {
    key,
    resultLabels: recordedResultLabels(completed),
    from: { run: RUN, seq: seqOf(seq + 1) },
    outputs: async () => completed.outputs,
    value: () => decodeResult({ json: result.inline, form, notes: [] }, '/p'),
  };
}

/** A part of a run that the stage under test does not use. */
function unused(): never {
  throw new Error('a bare run evaluates nothing');
}
