/** The two ends of every replay: the run in the recorded world, and the report that compares it with the record. REPLAY-3 */
import { endsWithItsRun } from '../../../replay/recording/recorded-world.js';
import { execute } from '../../language/evaluate.js';
import type { Frame, RunState } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { createDocument } from '../script/document.js';
import { createRunState, rootFrame } from '../script/root-frame.js';
import type { Divergence } from './divergence.js';
import type { ReplayableRun, ReplayedWalk, ReplayReport } from './replay-options.js';
import type { ReplayRuntime } from './replay-runtime.js';

interface ReplayedParts {
  readonly module: Module;
  readonly state?: RunState['state'];
  readonly document?: RunState['document'];
  readonly cache?: Partial<RunState['cache']>;
  readonly perform?: NonNullable<RunState['replayed']>['perform'];
}

/** Makes the frame of the first statement, whose run has the recorded world and nothing else. */
export function replayedFrame(
  { options: { sinks }, settings, recording }: Pick<ReplayableRun, 'options' | 'settings' | 'recording'>,
  runtime: ReplayRuntime,
  { module, state, document = createDocument({ streaming: true, collects: false }), cache, perform }: ReplayedParts,
): Frame {
  const { replayedWorld, hooks, calls, control, recorder } = runtime;
  const run = createRunState({
    options: { io: { ...sinks, stdin: async () => undefined, nowMs: () => 0, monotonicMs: () => 0 } },
    world: replayedWorld.world,
    replayed: {
      perform: perform ?? replayedWorld.perform,
      timeOut: hooks.timeOut,
      call: calls.call,
      hasAhead: (op, kind) => recording.effects.get(op)?.some((effect) => effect.kind === kind && !effect.isUsed) === true,
    },
    recorder,
    cache: { ...runtime.cache, ...cache },
    secrets: new SecretRegistry(),
    document,
    settings,
    state,
    signal: control.signal,
  });
  const frame = rootFrame(run, module, execute);
  runtime.enter(frame);
  return frame;
}

interface ReplayResult {
  /** Finds what shows only at the end. Not called where the replay differed before, or was stopped. */
  readonly atEnd: () => readonly Divergence[];
  readonly error: unknown;
  readonly walk?: ReplayedWalk;
}

/** Closes the recorded world, and compares. */
export async function endReplay(
  { options: { ref }, recording }: Pick<ReplayableRun, 'options' | 'recording'>,
  { control, replayedWorld, ...runtime }: ReplayRuntime,
  { atEnd, error, walk }: ReplayResult,
): Promise<ReplayReport> {
  await replayedWorld.world.close('the replay has ended');
  const stopped = runtime.stopped();
  const divergences = stopped || control.divergences.length > 0 ? control.divergences : atEnd();
  const verdict = stopped ? 'stopped' : divergences.length > 0 ? 'diverged' : endsWithItsRun(recording) ? 'same' : 'cut';
  return withoutUndefined<ReplayReport>({
    ref,
    verdict,
    status: recording.finished?.status,
    effects: replayedWorld.effectCount(),
    divergences,
    walk,
    stopped,
    error: verdict === 'same' ? error : undefined,
  });
}
