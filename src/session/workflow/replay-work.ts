/**
 * Replays a run of a workflow script or program: its code runs again, and its calls get what the record has for their places.
 * workflows-js.md 7 and 15.
 *
 * REPLAY-WORK-1  No agent is asked and no body of a program is called: how the recorded run came by a result does not matter.
 * REPLAY-WORK-2  The texts that the run wrote must come out the same; effects inside of calls are not repeated.
 */
import path from 'node:path';
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { RecordedCall, RecordedEffect } from '../../../replay/recording/recorded-world.js';
import { textSimilarity } from '../../../replay/reports/text-similarity.js';
import { keyDigitsOf } from '../../../replay/workflows/agent-calls.js';
import { createModule, type ModuleFacts } from '../../language/source-module.js';
import type { Frame } from '../../runtime/frame.js';
import { loadModuleFile } from '../../modules/called-module.js';
import { crashed } from '../../workflows/backends/executable.js';
import { simulatedBackend } from '../../workflows/backends/simulated.js';
import { AgentTotals } from '../../workflows/run/ports.js';
import type { AgentPorts } from '../../workflows/run/ports.js';
import { concealError } from '../ports/conceal.js';
import type { Divergence, DivergentRequest } from '../rerun/divergence.js';
import { endDivergences, type ReplayEnd } from '../rerun/end-divergences.js';
import { resultsOf } from '../rerun/recorded-results.js';
import { numberedStop, stopNotReached } from '../rerun/replay-errors.js';
import type { ReplayableRun, ReplayReport } from '../rerun/replay-options.js';
import type { ReplayOrder } from '../rerun/replay-order.js';
import { createReplayRuntime } from '../rerun/replay-runtime.js';
import { endReplay, replayedFrame } from '../rerun/replayed-run.js';

export interface ReplayedWork {
  readonly frame: Frame;
  readonly ports: AgentPorts;
  readonly clockMs: number;
  readonly seed: string;
}

type Replayed = Omit<ReplayableRun, 'text'>;

/** `work` runs the code, and throws what ends it. */
export async function replayWork(
  replayed: Replayed,
  module: ModuleFacts,
  work: (parts: ReplayedWork) => Promise<void>,
): Promise<ReplayReport> {
  const { options, recording, started, root } = replayed;
  const { ref, store, until } = options;
  const phase = until && 'at' in until ? recording.checkpoints.get(until.at) : undefined;
  if (until && 'at' in until && phase === undefined)
    throw stopNotReached(ref, `phase or checkpoint "${until.at}"`, [...recording.checkpoints.keys()]);
  const lastSeq = phase ?? numberedStop(options, recording) ?? Number.POSITIVE_INFINITY;
  const runtime = createReplayRuntime({ options, recording, root, lastSeq, variablesAt: () => [] });
  const frame = replayedFrame(replayed, runtime, { module: createModule(module) });
  const ports: AgentPorts = {
    ...recordedSamples(store, recording.calls, runtime.order),
    backendOf: () => simulatedBackend, // REPLAY-WORK-1
    backend: simulatedBackend,
    definitionOf: async () => undefined,
    model: undefined,
    totalTokens: started.budgetTokens ?? null,
    owner: undefined,
    keptWorktreeOf: async () => undefined,
    totals: new AgentTotals(),
  };
  const { clock: clockMs = 0, seed = '' } = started;
  const ended = (async (): Promise<unknown> => {
    for (const file of hookModules(recording.effects.get(frame.op.path) ?? []))
      await loadModuleFile(path.resolve(root, file), frame, crashed);
    await work({ frame, ports, clockMs, seed });
    return undefined;
  })().catch((error: unknown) => error);
  const error = await Promise.race([ended, runtime.control.ended]);
  concealError(error, frame.run.secrets);
  const isMissed = ({ kind, op }: RecordedEffect): boolean => kind === 'stream.write' && keyDigitsOf(op) === undefined; // REPLAY-WORK-2
  const atEnd = (): readonly Divergence[] => endDivergences(recording, error as ReplayEnd | undefined, isMissed);
  const report = await endReplay(replayed, runtime, { atEnd, error });
  const nearest = report.divergences.map((each) => withNearest(each, { store, calls: recording.calls }));
  return { ...report, divergences: await Promise.all(nearest) };
}

/** The most recorded calls that are compared with one that the record does not have. */
const COMPARED_MAX = 1000;

/** Names the recorded call that resembles a new one most: what changed is in the difference. */
async function withNearest(
  divergence: Divergence,
  { store, calls }: { readonly store: JournalStore; readonly calls: ReadonlyMap<string, RecordedCall> },
): Promise<Divergence> {
  const { reason, kind, actual } = divergence;
  if (reason !== 'new' || kind !== 'call' || actual?.request === undefined) return divergence;
  const text = JSON.stringify(actual.request);
  let nearest: { readonly similarity: number; readonly expected: DivergentRequest } | undefined;
  for (const { seq, fn, place } of [...calls.values()].slice(0, COMPARED_MAX)) {
    if (`@${fn}` !== actual.subject) continue;
    const event = await store.readAt(place.ref, place.position);
    const request = event?.type === 'call.started' ? await store.resolve(event.args, event.key) : undefined;
    if (request === undefined) continue;
    const similarity = textSimilarity(text, JSON.stringify(request));
    if (!nearest || similarity > nearest.similarity) nearest = { similarity, expected: { seq, subject: actual.subject, request } };
  }
  return nearest ? { ...divergence, expected: nearest.expected } : divergence;
}

/** The run reads no file itself but the module of its hooks. */
function hookModules(effects: readonly RecordedEffect[]): readonly string[] {
  return effects.flatMap(({ kind, subject }) => (kind === 'file.read' ? [subject] : []));
}

/** Gives a call the sample that was recorded for its place. */
function recordedSamples(
  store: JournalStore,
  calls: ReadonlyMap<string, RecordedCall>,
  order: ReplayOrder,
): Pick<AgentPorts, 'take' | 'elapsedOf'> {
  const elapsed = new Map<CallKey, number>();
  const results = resultsOf(store);
  const numberOf = sampleNumbers();
  return {
    elapsedOf: (key) => elapsed.get(key),
    async take({ op, keyOf }) {
      const recorded = calls.get(op);
      if (!recorded) return { number: 1, key: keyOf(1), isRecorded: false };
      const release = order.hold();
      try {
        const keyed = (await store.knownSecrets().catch(() => undefined))?.callKey;
        const { key, completed, from, place } = recorded;
        const source = from ?? (completed && { run: place.ref.run, seq: completed.seq });
        const result = source && (await results(source.run, source.seq));
        if (result) elapsed.set(key, result.elapsedMs);
        const number = numberOf(key, keyOf, keyed);
        if (number === undefined) return { number: 1, key: keyOf(1), isRecorded: false };
        return { number, key, isRecorded: source !== undefined };
      } finally {
        release();
      }
    },
  };
}

/** The most samples of one question that are told apart. */
const SAMPLES_MAX = 100_000;

type FindNumber = (key: CallKey, keyOf: (number: number) => CallKey, keyed: ((key: CallKey) => CallKey) | undefined) => number | undefined;

/** Finds the number of a sample by its key. The keys of a question are made once for all its samples. */
function sampleNumbers(): FindNumber {
  const questions = new Map<CallKey, { readonly numbers: Map<CallKey, number>; last: number }>();
  return (key, keyOf, keyed) => {
    const id = keyOf(1);
    const made = questions.get(id) ?? { numbers: new Map<CallKey, number>(), last: 0 };
    questions.set(id, made);
    while (!made.numbers.has(key) && made.last < SAMPLES_MAX) {
      const plain = keyOf(++made.last);
      made.numbers.set(plain, made.last);
      if (keyed) made.numbers.set(keyed(plain), made.last);
    }
    return made.numbers.get(key);
  };
}
