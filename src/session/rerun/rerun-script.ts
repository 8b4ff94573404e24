/** A recorded script again: its statements, in the world of the record. */
import { isWhole } from '../../../replay/recording/recorded-world.js';
import { execute } from '../../language/evaluate.js';
import { SecretRegistry } from '../../runtime/secret-registry.js';
import { concealError } from '../ports/conceal.js';
import { createDocument } from '../script/document.js';
import { rootFrame, createRunState } from '../script/root-frame.js';
import { parseScriptText } from '../script/open-script.js';
import { createReplayRuntime, endDivergences, inScope, type ReplayEnd } from './replay-runtime.js';
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
  const setting = createReplayRuntime({
    options,
    recording,
    root,
    lastSeq: numberedStop(options, recording) ?? Number.POSITIVE_INFINITY,
    variablesAt: inScope,
    onFact(fact) {
      if (fact.type !== 'checkpoint.reached' || fact.name !== checkpoint) return;
      setting.enter(frame); // checkpoints stand in the script itself
      setting.stopAt(recording.checkpoints.get(fact.name) ?? 0);
      throw endOfReplay();
    },
  });
  const { control: course, replayedWorld: replayed, hooks, cache: answers, recorder } = setting;

  const collects = started.given?.structured === true;
  const document = createDocument({ streaming: settings.streaming && !collects, collects });
  const ports = {
    world: replayed.world,
    replayed: { perform: replayed.perform, timeOut: hooks.timeOut },
    recorder,
    cache: answers,
    secrets: new SecretRegistry(),
    document,
    settings,
    state,
    signal: course.signal,
  };
  const run = createRunState({
    options: { io: { ...sinks, stdin: async () => undefined, nowMs: () => 0, monotonicMs: () => 0 } },
    ...ports,
  });
  const frame = rootFrame(run, module, execute);
  setting.enter(frame);
  const printsAtEnd = !settings.streaming && !collects;
  const ended = executeScript(script, frame, { document, printsAtEnd, keepsSource: true });
  const error = await Promise.race([ended, course.ended]);
  if (error !== undefined && printsAtEnd && document.text() !== '') sinks.stdout(`${document.normalised()}\n`);
  await replayed.world.close('the replay has ended');
  ended.catch(() => undefined); // what it may still say is about the end of the replay

  const stopped = setting.stopped();
  const divergences =
    stopped || course.divergences.length > 0 ? course.divergences : endDivergences(recording, error as ReplayEnd | undefined);
  concealError(error, run.secrets);
  const verdict = stopped ? 'stopped' : divergences.length > 0 ? 'diverged' : isWhole(recording) ? 'same' : 'cut';
  return {
    ref,
    verdict,
    status: recording.finished?.status,
    effects: replayed.effectCount(),
    divergences,
    ...(stopped ? { stopped } : {}),
    ...(verdict === 'same' && error !== undefined ? { error } : {}),
  };
}
