/** Makes the first facts of a pipeline's run, anew, after a resume and after a restart. graph-pipelines.md 8.1, 11. */
import path from 'node:path';
import type { FactOf, Json } from '../../../journal/event.js';
import type { CacheFlags } from '../../../journal/facts/run-event.js';
import type { RunRef } from '../../../journal/ids.js';
import type { ContinuedRun } from '../../../journal/store.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { ResumePoint } from './history/chain.js';

/** Describes the run that follows a `loop_restart` edge. */
export interface Restart {
  readonly restartOf: RunRef['run'];
  /** Counts the restarts of the logical run, this one included. */
  readonly restarts: number;
  readonly enterAt: string;
  /** The values of `--set` with which the first run of the logical run was started. */
  readonly set: PipelineRunOptions['set'];
  /** The folder of the run before it. */
  readonly runDirBefore: string;
  readonly continues: ContinuedRun;
}

/** Describes how a run begins. */
export interface RunBeginning extends Partial<Omit<Restart, 'set'>>, Pick<Restart, 'set'> {
  readonly resumed?: ResumePoint;
  /** As in `run.started`. */
  readonly unresolvedBefore: number;
  /** Counts the runs of this command: 1, or more after restarts. */
  readonly number: number;
}

interface Starting {
  readonly options: PipelineRunOptions;
  readonly plan: CompiledPipeline;
  readonly beginning: RunBeginning;
}

export function startFacts({ options, plan, beginning }: Starting, ref: RunRef): Partial<FactOf<'run.started'>> {
  const { resumed, restartOf, number, unresolvedBefore } = beginning;
  // A resumed run makes the calls of the run before, whichever program began that.
  const { restarts, within } = resumed?.state ?? { restarts: beginning.restarts ?? 0, within: options.parent?.within };
  const enterAt = resumed?.enterAt ?? beginning.enterAt;
  const { checkpoint, resume, backend } = options;
  const parent = options.parent ?? resumed?.state.parent;
  return withoutUndefined<Partial<FactOf<'run.started'>>>({
    flags: withoutUndefined<CacheFlags>({ checkpoint: checkpoint || undefined, resume: number > 1 ? undefined : resume }),
    pipeline: plan.graph.name,
    runDir: runDirectory(options, beginning, ref),
    backend,
    gates: plan.gates,
    resume: resumed?.from,
    restartOf,
    restarts: restarts === 0 ? undefined : restarts,
    unresolvedBefore: unresolvedBefore || undefined,
    enterAt,
    parent:
      parent &&
      withoutUndefined<NonNullable<FactOf<'run.started'>['parent']>>({
        run: parent.run,
        node: parent.node,
        op: parent.op,
        journalRun: parent.journalRun,
      }),
    within,
  });
}

export function restartOf({ journalRun, given, runDir, restarts }: PipelineState, enterAt: string, continues: ContinuedRun): Restart {
  if (journalRun === undefined) throw new Error('a run was restarted before it began');
  return { restartOf: journalRun, restarts: restarts + 1, enterAt, set: given as Restart['set'], runDirBefore: runDir, continues };
}

/** Returns the attributes of the graph with their types, its goal, and the values of `--set`. */
export function initialContext(
  { graph, goal }: CompiledPipeline,
  { given }: Pick<PipelineState, 'given'>,
): { readonly [key: string]: Json } {
  const context: { [key: string]: Json } = {};
  for (const [key, { value }] of graph.attributes) {
    const isNumber = value.kind === 'integer' || value.kind === 'float';
    context[`graph.${key}`] = isNumber ? Number(value.text) : value.kind === 'boolean' ? value.text === 'true' : value.text;
  }
  return { ...context, 'graph.goal': goal, ...(given as { readonly [key: string]: Json }) };
}

/** Returns a path relative to the project if the folder is inside. A resumed run continues in the folder of its chain. */
function runDirectory(options: PipelineRunOptions, { resumed, runDirBefore }: RunBeginning, { run }: RunRef): string {
  const { project, file, runDirectory: chosen, workingDirectory } = options;
  // The journal may be damaged and not name its folder.
  if (resumed && resumed.state.runDir !== '') return resumed.state.runDir;
  const folder =
    chosen === undefined
      ? path.join(project.root, '.mlld', 'graph', path.basename(file, '.dot'), resumed?.state.runId ?? run)
      : numbered(path.resolve(workingDirectory, chosen), runDirBefore && path.resolve(project.root, runDirBefore));
  const relative = path.relative(project.root, folder);
  return relative.startsWith('..') || path.isAbsolute(relative) ? folder : relative.replaceAll(path.sep, '/');
}

/** Returns the folder for the first run, `<folder>.2` after its first restart, and so on, also if another command ran the one before. */
function numbered(folder: string, before: string | undefined): string {
  if (before === undefined) return folder;
  const number = before.startsWith(`${folder}.`) ? Number(before.slice(folder.length + 1)) : 1;
  return `${folder}.${(Number.isInteger(number) ? number : 1) + 1}`;
}
