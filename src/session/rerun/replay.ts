/**
 * Runs a recorded script or pipeline again in the world of its record. design.md 5, docs/decisions/0022-replay.md.
 *
 * REPLAY-1  Nothing outside is touched except the journal, which is read, and the two sinks.
 * REPLAY-2  Hooks, guards, blocks and bodies of calls run again; their effects get the recorded results.
 * REPLAY-3  The verdict is `same` if every effect was recorded, every recorded effect was performed, and the run ended in the same way.
 */
import path from 'node:path';
import type { RunRef } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { recording as projection, type Recording } from '../../../replay/recording/recorded-world.js';
import { recordedInputs } from '../script/run-inputs.js';
import { replayImpossible } from './replay-errors.js';
import type { ReplayableRun, ReplayOptions, ReplayReport, ReplayWorkflow } from './replay-options.js';

/**
 * Executes a recorded run again in a recorded world: no command runs, no file is written, no model is called. Differences are in the
 * report. Throws REPLAY_IMPOSSIBLE for a run whose script is not in the journal, REPLAY_STOP for a place that it never reached, and the
 * errors of the parser for a `scriptText` that does not parse.
 *
 * ```js
 * const sinks = { stdout: (text) => console.log(text), stderr: () => {} };
 * const { verdict, divergences } = await replayRun({ store, ref: report.journal, root: '.', divergences: 'first', sinks });
 * ```
 */
export function replayRun(options: ReplayOptions): Promise<ReplayReport> {
  return replayWith(options, undefined);
}

/** As `replayRun`; a run of a program takes the caller's code, which no journal has. */
export async function replayWith(options: ReplayOptions, replayProgram: ReplayWorkflow | undefined): Promise<ReplayReport> {
  const { store, ref } = options;
  const recording = await foldRun(store, ref, projection);
  const { started } = recording;
  if (!started) throw replayImpossible(ref, 'its first event is damaged');
  const root = started.given?.root ?? options.root;
  const file = path.resolve(root, ref.workflow);
  const inputs = await recordedInputs(started, { root, scriptDirectory: path.dirname(file), store });
  if (!inputs) throw replayImpossible(ref, "its inputs can't be read any more");
  const replayable = { options, recording, started, root, file, ...inputs };
  if (started.clock !== undefined) {
    const replayWorkflow = replayProgram ?? (await import('../workflow/replay-script.js')).replayWorkflowScript;
    return replayWorkflow(replayable, () => recordedScript(store, recording, ref));
  }
  const text = options.scriptText ?? (await recordedScript(store, recording, ref));
  const replayed: ReplayableRun = { ...replayable, text };
  if (started.pipeline !== undefined) return (await import('./rerun-pipeline.js')).replayPipeline(replayed);
  return (await import('./rerun-script.js')).replayScript(replayed);
}

async function recordedScript(store: JournalStore, recording: Recording, ref: RunRef): Promise<string> {
  for (const [name, { role, blob, whole }] of recording.sources) {
    if (role !== 'script') continue;
    if (whole !== undefined) {
      const text = await store.resolve(whole, name);
      if (typeof text === 'string') return text;
      throw replayImpossible(ref, 'its script holds secrets, and they were not kept or are sealed with another key');
    }
    const content = await store.getBlob(blob);
    if (content) return Buffer.from(content).toString('utf8');
  }
  throw replayImpossible(ref, 'the text of its script is not in the journal');
}
