/**
 * Puts a run of a workflow script together and sees it to its end. workflows-js.md 7 and 11.
 *
 * WORKFLOW-1  Nothing is recorded before the text, the backend and the `--resume` target are found to be good.
 */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { Frame } from '../../runtime/frame.js';
import type { FailedAgent } from '../../workflows/run/ports.js';
import { runScript } from '../../workflows/run/script-run.js';
import { superviseRun } from '../run-lifecycle.js';
import type { Supervised } from '../open-run.js';
import type { RunOptions, RunReport } from '../script/run-options.js';
import { installedBackend, finishWork, openWork, prepareWork, type AgentSettings } from './recorded-work.js';
import { calledWorkflow, readWorkflowFile, type WorkflowPlace } from './workflow-files.js';

export interface WorkflowSettings extends AgentSettings {
  /** `[]` where nothing was given. */
  readonly args: readonly Json[];
}

export interface WorkflowReport extends RunReport {
  readonly agents?: { readonly calls: number; readonly failed: readonly FailedAgent[] };
}

/** `options.script` must be a file. */
export function runWorkflow(options: RunOptions, settings: WorkflowSettings): Promise<WorkflowReport> {
  const { io } = options;
  const withMessages = { ...options, io: { ...io, stderr: io.message ?? io.stderr } };
  return superviseRun<WorkflowReport>(options, {
    onStop: 'close-world',
    work: (world, signal, pause) => prepareAndRun(withMessages, settings, { world, signal, pause }),
  });
}

async function prepareAndRun(given: RunOptions, settings: WorkflowSettings, supervised: Supervised): Promise<WorkflowReport> {
  const { project, workingDirectory, script } = given;
  if (script.kind !== 'file') throw new Error('a workflow script is a file');
  const place: WorkflowPlace = { project, home: settings.home, workingDirectory };
  const source = await readWorkflowFile(script.path, place); // WORKFLOW-1
  const backend = installedBackend(given, settings.backend); // WORKFLOW-1
  const { phases } = source.text.meta;
  const [input = null] = settings.args;
  const directory = path.dirname(script.path);
  const module = { path: source.file, display: source.display, directory, text: source.text.text, isMain: true };
  const work = await openWork({ options: given, module, settings, input, phases }, supervised);
  const { frame, start } = work;
  const ports = {
    ...work.ports,
    backend,
    seed: start.seed,
    findScript: (ref: Parameters<typeof calledWorkflow>[0], from: typeof source) => calledWorkflow(ref, from.file, place),
  };
  let error: unknown;
  try {
    await prepareWork(work);
    const [result] = await runScript(ports, frame, { source, args: settings.args, clockMs: start.clock, isNested: false });
    await printResult(frame, result);
  } catch (thrown) {
    error = thrown;
  }
  if (error !== undefined && !(error instanceof MlldError)) throw error; // a broken invariant
  const report = await finishWork(work, supervised.signal, error);
  const { totals } = ports;
  return { ...report, agents: { calls: totals.calls, failed: totals.failed } };
}

/** A text as it is, other data as JSON, nothing for what is undefined. workflows-js.md 2. */
export async function printResult(frame: Frame, result: Json | undefined): Promise<void> {
  if (result === undefined) return;
  const text = typeof result === 'string' ? result : JSON.stringify(result, undefined, 2);
  await performEffect(frame, 'stream.write', { stream: 'stdout', text: text.endsWith('\n') ? text : `${text}\n` });
}
