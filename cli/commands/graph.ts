/** `mlld graph render FILE.dot`: draws a pipeline, its nodes coloured by their outcomes in a run. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import type { Project } from '../../src/api/commands/project.js';
import type { Io } from '../terminal/io.js';
import { openProject } from './open-project.js';

interface RenderOptions {
  readonly output: string;
  readonly run?: string;
}

export async function renderPipeline(io: Io, target: string, { output, run }: RenderOptions): Promise<void> {
  const [{ readPipeline }, { renderGraph: pictureOf }] = await Promise.all([
    import('./validate-pipeline.js'),
    import('../../src/api/commands/picture.js'),
  ]);
  const text = readPipeline(io, target);
  const states = run === undefined ? undefined : await statesOf(io, target, run);
  const picture = await pictureOf({ file: target, text }, states);
  if (output === '-') io.stdout(picture);
  else write(path.resolve(io.workingDirectory, output), output, picture);
}

/** Folds the run and those that it resumed. */
async function statesOf(io: Io, target: string, run: string) {
  const { openChain, nodeStates } = await import('../../src/api/commands/node-states.js');
  const { project, store } = await openProject(io);
  const latest = await runOf(io, project, store, target, run);
  const { state } = await openChain(store, latest);
  return nodeStates(state, latest.liveness);
}

async function runOf(io: Io, project: Project, store: Awaited<ReturnType<typeof openProject>>['store'], target: string, run: string) {
  const { pickRun, workflowFor } = await import('../../src/api/commands/node-states.js');
  const runs = await store.runs(workflowFor(project, path.resolve(io.workingDirectory, target)));
  const found = pickRun(runs, run);
  if (found.kind === 'one') return found.run;
  if (found.kind === 'several')
    throw new MlldError('RUN_AMBIGUOUS', `${found.runs.length} runs of ${target} begin with "${run}"`, { hint: 'write more of the id' });
  throw new MlldError('RUN_UNKNOWN', `There is no run "${run}" of ${target}`, { hint: 'mlld journal list shows the recorded runs' });
}

function write(absolute: string, output: string, picture: string): void {
  try {
    fs.writeFileSync(absolute, picture);
  } catch (error) {
    throw new MlldError('OUTPUT_NOT_WRITABLE', `${output} can't be written: ${(error as Error).message}`, { cause: error });
  }
}
