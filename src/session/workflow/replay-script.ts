/** Replays a recorded run of a workflow script, from its recorded text. workflows-js.md 7. */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import { MlldError } from '../../errors.js';
import { displayPath } from '../../language/paths.js';
import { readWorkflow } from '../../workflows/text/read-script.js';
import { runScript } from '../../workflows/run/script-run.js';
import type { WorkflowPorts, WorkflowSource } from '../../workflows/run/ports.js';
import { replayImpossible } from '../rerun/replay-errors.js';
import type { ReplayOptions, ReplayWorkflow } from '../rerun/replay-options.js';
import { replayWork } from './replay-work.js';
import { printResult } from './run-workflow.js';

/** Throws REPLAY_IMPOSSIBLE for a program of the library, whose code is not in the journal. */
export const replayWorkflowScript: ReplayWorkflow = async (run, recordedText) => {
  const { options, recording, started, root, file, settings } = run;
  const { ref, store, scriptText } = options;
  if (scriptText === undefined && ![...recording.sources.values()].some(({ role }) => role === 'script'))
    throw replayImpossible(ref, 'its program is not in the journal: call replay() of the program');
  const place = { workingDirectory: settings.workingDirectory };
  const sourceOf = async (from: string, text: string): Promise<WorkflowSource> => {
    const display = displayPath(from, place);
    return { file: from, display, text: await readWorkflow(text, display) };
  };
  const source = await sourceOf(file, scriptText ?? (await recordedText()));
  const refused = await refusedScripts(run.options);
  const findScript: WorkflowPorts['findScript'] = async (wanted, from, op) => {
    const isWanted = (name: string): boolean =>
      typeof wanted === 'string'
        ? path.basename(name).replace(/\.m?js$/, '') === wanted
        : path.resolve(root, name) === path.resolve(path.dirname(from.file), wanted.scriptPath);
    for (const [name, { role, blob }] of recording.sources) {
      const content = role === 'module' && /\.m?js$/.test(name) ? await store.getBlob(blob) : undefined;
      if (!content) continue;
      const found = await sourceOf(path.resolve(root, name), Buffer.from(content).toString('utf8'));
      if (isWanted(name) || found.text.meta.name === wanted) return found;
    }
    throw new MlldError('WORKFLOW_NAME', refused.get(op) ?? `the recorded run called no script ${JSON.stringify(wanted)}`);
  };
  const module = { path: file, display: source.display, directory: path.dirname(file), text: source.text.text, isMain: true };
  const args: readonly Json[] = started.payload === null ? [] : [started.payload];
  return replayWork(run, module, async ({ frame, ports, clockMs, seed }) => {
    const [result] = await runScript({ ...ports, seed, findScript }, frame, { source, args, clockMs, isNested: false });
    await printResult(frame, result);
  });
};

const PREFIX = 'workflow(): ';

/** Maps the `workflow()` calls that found no script to what they said: there may be one by now. */
async function refusedScripts({ store, ref }: ReplayOptions): Promise<ReadonlyMap<OpPath, string>> {
  const refused = new Map<OpPath, string>();
  await store.scan(ref, (event) => {
    if (event.type === 'op.finished' && event.message?.startsWith(PREFIX) === true)
      refused.set(event.op, event.message.slice(PREFIX.length));
  });
  return refused;
}
