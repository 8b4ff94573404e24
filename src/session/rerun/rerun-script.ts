/** Replays a recorded run of a script: executes its statements again in the recorded world. */
import { concealError } from '../ports/conceal.js';
import { createDocument } from '../script/document.js';
import { parseScriptText } from '../script/open-script.js';
import { endDivergences, type ReplayEnd } from './end-divergences.js';
import { createReplayRuntime, inScope } from './replay-runtime.js';
import { stopNotReached, numberedStop } from './replay-errors.js';
import type { ReplayableRun, ReplayReport } from './replay-options.js';
import { endReplay, replayedFrame } from './replayed-run.js';
import { endOfReplay } from './replayed-world.js';
import { executeScript } from '../script/execute-script.js';

export async function replayScript(replayable: ReplayableRun): Promise<ReplayReport> {
  const { options, recording, started, root, file, text, settings, state } = replayable;
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
  const collects = started.given?.structured === true;
  const document = createDocument({ streaming: settings.streaming && !collects, collects });
  const frame = replayedFrame(replayable, runtime, { module, state, document });
  const { run } = frame;
  const printsAtEnd = !settings.streaming && !collects;
  const ended = executeScript(script, frame, { document, printsAtEnd, keepsSource: true, started: undefined });
  const error = await Promise.race([ended, runtime.control.ended]);
  if (error !== undefined && printsAtEnd && document.text() !== '') sinks.stdout(`${document.normalised()}\n`);
  run.writeWarnings();
  ended.catch(() => undefined); // a later error is only about the end of the replay
  concealError(error, run.secrets);
  return endReplay(replayable, runtime, { atEnd: () => endDivergences(recording, error as ReplayEnd | undefined), error });
}
