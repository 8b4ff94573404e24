/** `mlld journal replay RUN`: runs a recorded run again with its recorded results; nothing is executed, paid for or written. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { RunRef } from '../../../journal/ids.js';
import { MlldError } from '../../../src/errors.js';
import type { WorkingProject } from '../../../src/api/commands/project.js';
import {
  openStoreWithKey,
  openTest,
  recordedFile,
  replayRun,
  saveTest,
  type ReplayOptions,
  type ReplayReport,
  type SavedTest,
} from '../../../src/api/commands/replay.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { EXIT_DIVERGED, EXIT_OK } from '../../exit-codes.js';
import type { Io } from '../../terminal/io.js';
import { projectOf } from '../open-project.js';
import { oneLine } from '../../render/one-line.js';
import { styleFor } from '../../render/style.js';
import { renderCompleted, renderProgressOf } from '../../render/reports/pipeline.js';
import { stepper } from './replay-steps.js';
import { renderReplay, renderValue, renderVariables, replayJson } from '../../render/reports/replay.js';

interface Options {
  readonly until?: number;
  readonly at?: string;
  readonly print?: readonly string[];
  readonly script?: string;
  readonly current?: true;
  readonly step?: true;
  readonly saveTest?: string;
  readonly check?: string;
  readonly all?: true;
  readonly json?: true;
}

export async function replay(io: Io, run: string | undefined, options: Options): Promise<number> {
  const { verdict } = await replayAndPrint(io, run, options);
  return verdict === 'diverged' ? EXIT_DIVERGED : EXIT_OK;
}

async function replayAndPrint(io: Io, text: string | undefined, options: Options): Promise<ReplayReport> {
  const project = await projectOf(io);
  const { store, ref } = await replayedRun(io, project, text, options);
  const quiet = (): void => undefined;
  const report = await replayRun({
    store,
    ref,
    root: project.root,
    sinks: options.json ? { stdout: quiet, stderr: quiet } : { stdout: io.document, stderr: io.stderr },
    divergences: options.all ? 'all' : 'first',
    ...stopOf(options),
    ...(options.step ? { onStep: stepper(io) } : {}),
    ...(options.json ? {} : { onEvent: (event) => io.stderr(renderProgressOf(event)) }),
    ...(await sourcesOf(io, options, project, ref)),
  });
  const { walk, verdict, status } = report;
  if (!options.json && walk && verdict === 'same' && status === 'completed') io.stdout(renderCompleted(walk.pipeline));
  if (options.json) io.stdout(`${JSON.stringify(replayJson(report), undefined, 2)}\n`);
  else io.stderr(renderReplay(report, styleFor(io.colours.stderr)));
  if (report.stopped && !options.json) printVariables(io, report.stopped.variables, options.print);
  return report;
}

/** Finds the run, or the saved test. A new test is replayed from the saved files. */
async function replayedRun(
  io: Io,
  project: WorkingProject,
  text: string | undefined,
  { check, saveTest: folder }: Options,
): Promise<SavedTest> {
  if ((text === undefined) === (check === undefined)) {
    throw new MlldError('USAGE', 'journal replay takes a run, or --check and the folder of a test', { hint: 'mlld journal replay latest' });
  }
  if (check !== undefined) return openTest(path.resolve(io.workingDirectory, check));
  const store = await openStoreWithKey(project, io.environment);
  const { ref } = await resolveRun(store, project, text ?? 'latest');
  return folder === undefined ? { store, ref } : saveTest(store, project.root, ref, path.resolve(io.workingDirectory, folder));
}

function stopOf({ until, at }: Options): Pick<ReplayOptions, 'until'> {
  if (until !== undefined && at !== undefined)
    throw new MlldError('USAGE', "--until and --at can't be combined: both say where to stop", { hint: 'use one of the two' });
  if (until !== undefined) return { until: { seq: until } };
  return at === undefined ? {} : { until: { at } };
}

async function sourcesOf(
  io: Io,
  { script, current }: Options,
  project: WorkingProject,
  ref: RunRef,
): Promise<Pick<ReplayOptions, 'scriptText' | 'sourceText'>> {
  if (script === undefined && !current) return {};
  const file = script === undefined ? presentScript(project, ref) : path.resolve(io.workingDirectory, script);
  return {
    scriptText: await fs.readFile(file, 'utf8').catch((cause: unknown) => {
      throw new MlldError('FILE_NOT_FOUND', `There is no file ${path.relative(io.workingDirectory, file)} to replay`, { cause });
    }),
    ...(current ? { sourceText: (name) => presentSource(io, project, name) } : {}),
  };
}

function presentScript(project: WorkingProject, { workflow, run }: RunRef): string {
  const file = recordedFile(project, workflow);
  if (file !== undefined) return file;
  throw new MlldError('REPLAY_OUTSIDE', `Run ${run} is recorded for ${oneLine(workflow)}, which is outside of the project`, {
    hint: 'where the file is to be trusted: --current --script FILE',
  });
}

async function presentSource(io: Io, project: WorkingProject, name: string): Promise<string | undefined> {
  const file = recordedFile(project, name);
  if (file === undefined) io.stderr(`warning: ${oneLine(name)} is outside of the project: its recorded text is used\n`);
  return file && fs.readFile(file, 'utf8').catch(() => undefined);
}

type Variables = NonNullable<ReplayReport['stopped']>['variables'];

function printVariables(io: Io, variables: Variables, names: readonly string[] | undefined): void {
  if (!names) {
    io.stdout(renderVariables(variables, io.stdoutColumns()));
    return;
  }
  for (const name of names) {
    const found = variables.find((variable) => `@${variable.name}` === name || variable.name === name);
    if (!found)
      throw new MlldError('UNKNOWN_VARIABLE', `There is no variable ${name} in scope there`, {
        hint: 'leave --print out to list all of them',
      });
    io.stdout(`${renderValue(found.value)}\n`);
  }
}
