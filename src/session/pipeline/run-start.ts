/** How a run of a pipeline begins: what its first events say. graph-pipelines.md 8.1, 11. */
import path from 'node:path';
import type { FactOf, Json } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { GraphState } from '../../../replay/pipeline/graph-state.js';
import type { CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { ResumePoint } from './history/chain.js';

/** The run that a `loop_restart` edge makes of another one. */
export interface Restart {
  readonly restartOf: RunRef['run'];
  readonly enterAt: string;
  /** What the first run of the line was given. */
  readonly set: PipelineRunOptions['set'];
  /** Where the files of the run before it are. */
  readonly runDirBefore: string;
}

/** Where a run of the journal begins. */
export interface RunBeginning extends Partial<Omit<Restart, 'set'>>, Pick<Restart, 'set'> {
  readonly resumed?: ResumePoint;
  /** Of the command: its first run, the second after a restart, … */
  readonly number: number;
}

interface Starting {
  readonly options: PipelineRunOptions;
  readonly plan: CompiledPipeline;
  readonly beginning: RunBeginning;
}

export function startFacts({ options, plan, beginning }: Starting, ref: RunRef): Partial<FactOf<'run.started'>> {
  const { resumed, restartOf, number } = beginning;
  const enterAt = resumed?.enterAt ?? beginning.enterAt;
  const { checkpoint, resume, parent, backend } = options;
  return {
    flags: { ...(checkpoint ? { checkpoint } : {}), ...(resume === undefined || number > 1 ? {} : { resume }) },
    pipeline: plan.graph.name,
    runDir: runDirectory(options, beginning, ref),
    ...(backend === undefined ? {} : { backend }),
    gates: plan.gates,
    ...(resumed ? { resume: resumed.from } : {}),
    ...(restartOf === undefined ? {} : { restartOf }),
    ...(enterAt === undefined ? {} : { enterAt }),
    ...(parent ? { parent: { run: parent.run, node: parent.node, op: parent.op } } : {}),
  };
}

export function restartOf({ journalRun, given, runDir }: GraphState, enterAt: string): Restart {
  if (journalRun === undefined) throw new Error('a run was restarted before it began');
  return { restartOf: journalRun, enterAt, set: given as Restart['set'], runDirBefore: runDir };
}

/** The graph's attributes with their types, its goal always, and what the command line set. */
export function initialContext({ graph, goal }: CompiledPipeline, { given }: Pick<GraphState, 'given'>): { readonly [key: string]: Json } {
  const context: { [key: string]: Json } = {};
  for (const [key, { value }] of graph.attributes) {
    const isNumber = value.kind === 'integer' || value.kind === 'float';
    context[`graph.${key}`] = isNumber ? Number(value.text) : value.kind === 'boolean' ? value.text === 'true' : value.text;
  }
  return { ...context, 'graph.goal': goal, ...(given as { readonly [key: string]: Json }) };
}

/** Relative to the project where it lies in it. A resumed run goes on in the folder of its chain. */
function runDirectory(options: PipelineRunOptions, { resumed, runDirBefore }: RunBeginning, { run }: RunRef): string {
  const { project, file, runDirectory: given, workingDirectory } = options;
  // A damaged journal may not say where its folder is.
  if (resumed && resumed.state.runDir !== '') return resumed.state.runDir;
  const folder =
    given === undefined
      ? path.join(project.root, '.mlld', 'graph', path.basename(file, '.dot'), resumed?.state.runId ?? run)
      : numbered(path.resolve(workingDirectory, given), runDirBefore && path.resolve(project.root, runDirBefore));
  const relative = path.relative(project.root, folder);
  return relative.startsWith('..') || path.isAbsolute(relative) ? folder : relative.replaceAll(path.sep, '/');
}

/** The folder of the first run, `<folder>.2` of that behind the first restart, and so on, whichever command began the one before. */
function numbered(folder: string, before: string | undefined): string {
  if (before === undefined) return folder;
  const number = before.startsWith(`${folder}.`) ? Number(before.slice(folder.length + 1)) : 1;
  return `${folder}.${(Number.isInteger(number) ? number : 1) + 1}`;
}
