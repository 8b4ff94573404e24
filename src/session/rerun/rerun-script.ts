/** Replays a recorded run of a script: executes its statements again in the recorded world. */
import { endsWithItsRun } from '../../../replay/recording/recorded-world.js';
import { execute } from '../../language/evaluate.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { concealError } from '../ports/conceal.js';
import { createDocument } from '../script/document.js';
import { rootFrame, createRunState } from '../script/root-frame.js';
import { parseScriptText } from '../script/open-script.js';
import { endDivergences, type ReplayEnd } from './end-divergences.js';
import { createReplayRuntime, inScope } from './replay-runtime.js';
import { stopNotReached, numberedStop } from './replay-errors.js';
import type { ReplayableRun, ReplayReport } from './replay-options.js';
import { endOfReplay } from './replayed-world.js';
import { executeScript } from '../script/execute-script.js';

export async function replayScript({
  options,
  recording,
  started,
  root,
  file,
  text,
  settings,
  state,
}: ReplayableRun): Promise<ReplayReport> {
  const { ref, until, sinks } = options;
  const { script, module } = parseScriptText(text, {
    path: file,
    mode: started.given?.mode,
    workingDirectory: settings.workingDirectory,
  });
  const checkpoint = until && 'at' in until ? until.at : undefined;
  if (checkpoint !== undefined && !recording.checkpoints.has(checkpoint)) {
    throw stopNotReached(ref, `checkpoint "${checkpoint}"`, [...recording.checkpoints.keys()]);
  }
  const runtime = createReplayRuntime({
    options,
    recording,
    root,
    lastSeq: numberedStop(options, recording) ?? Number.POSITIVE_INFINITY,
    variablesAt: inScope,
    onFact(fact) {
      if (fact.type !== 'checkpoint.reached' || fact.name !== checkpoint) return;
      runtime.enter(frame); // a checkpoint is a statement of the script itself
      runtime.stopAt(recording.checkpoints.get(fact.name) ?? 0);
      throw endOfReplay();
    },
  });
  const { control, replayedWorld, hooks, calls, cache, recorder } = runtime;

  const collects = started.given?.structured === true;
  const document = createDocument({ streaming: settings.streaming && !collects, collects });
  const ports = {
    world: replayedWorld.world,
    replayed: { perform: replayedWorld.perform, timeOut: hooks.timeOut, call: calls.call },
    recorder,
    cache,
    secrets: new SecretRegistry(),
    document,
    settings,
    state,
    signal: control.signal,
  };
  const run = createRunState({
    options: { io: { ...sinks, stdin: async () => undefined, nowMs: () => 0, monotonicMs: () => 0 } },
    ...ports,
  });
  const frame = rootFrame(run, module, execute);
  runtime.enter(frame);
  const printsAtEnd = !settings.streaming && !collects;
  const ended = executeScript(script, frame, { document, printsAtEnd, keepsSource: true });
  const error = await Promise.race([ended, control.ended]);
  if (error !== undefined && printsAtEnd && document.text() !== '') sinks.stdout(`${document.normalised()}\n`);
  run.writeWarnings();
  await replayedWorld.world.close('the replay has ended');
  ended.catch(() => undefined); // a later error is only about the end of the replay

  const stopped = runtime.stopped();
  const divergences =
    stopped || control.divergences.length > 0 ? control.divergences : endDivergences(recording, error as ReplayEnd | undefined);
  concealError(error, run.secrets);
  const verdict = stopped ? 'stopped' : divergences.length > 0 ? 'diverged' : endsWithItsRun(recording) ? 'same' : 'cut';
  return withoutUndefined<ReplayReport>({
    ref,
    verdict,
    status: recording.finished?.status,
    effects: replayedWorld.effectCount(),
    divergences,
    stopped,
    error: verdict === 'same' ? error : undefined,
  });
}
