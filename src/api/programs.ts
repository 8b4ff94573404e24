/** Makes durable programs: functions whose calls are recorded, so that a run that was cut short continues without paying again. */
import path from 'node:path';
import type { Json } from '../../journal/event.js';
import type { RunRef } from '../../journal/ids.js';
import type { RunStatus, RunTotals } from '../../journal/facts/run-event.js';
import type { JournalStore } from '../../journal/store.js';
import { parseBudget } from '../calls/budget/limits.js';
import { findProject } from '../session/project.js';
import { resolveRun } from '../session/recorded-run.js';
import type { ReplayReport } from '../session/rerun/replay-options.js';
import { replayWith } from '../session/rerun/replay.js';
import type { RunOutcome } from '../session/run-calls.js';
import type { CacheRequest, RunOptions } from '../session/script/run-options.js';
import { withoutUndefined } from '../values/without-undefined.js';
import type { PlanReport } from '../session/workflow/plan-work.js';
import type { AgentSettings } from '../session/workflow/recorded-work.js';
import { hostDefaults } from '../world/host-defaults.js';
import type { Context } from '../workflows/program/context.js';
import { PROGRAM } from '../session/workflow/load-program.js';
import { jsonOf } from '../workflows/program/json.js';
import type { JsonLike, JsonLikeOrVoid, NotJson } from '../workflows/program/json-like.js';
import { badOption, checkMembers, type Members } from './check.js';
import { openProjectStore } from './open-store.js';
import { OF_PROGRAMS, withProgramHints } from './reports/program-hints.js';

export { AgentError, type Context, type StepOptions } from '../workflows/program/context.js';
export type { AgentOptions } from '../workflows/run/agent-options.js';
export type { JsonLike, JsonLikeOrVoid, NotJson } from '../workflows/program/json-like.js';
export type { PlannedAgent, PlanReport } from '../session/workflow/plan-work.js';
export type { BudgetVerdict } from '../session/script/plan/plan-budget.js';
export type { LimitKind } from '../calls/budget/limits.js';
export type { Estimate, FunctionEstimate } from '../../replay/resume/estimate.js';

/** Options of a run of a program; all have defaults. */
export interface RunSettings {
  /** A folder of the project; by default the working directory. */
  readonly project?: string;
  /** Keeps the record; by default the journal of the project. */
  readonly store?: JournalStore;
  /** Reuses what is recorded; a text selects what is executed again, as `--resume TARGET` does. */
  readonly resume?: boolean | string;
  /** Forgets what is recorded. */
  readonly fresh?: boolean;
  /** Takes results of other workflows first, by their names. */
  readonly fork?: string | readonly string[];
  /** `ask` executes calls again whose version or body has changed since. */
  readonly changed?: 'serve' | 'ask';
  readonly record?: false;
  /** Answers `ctx.agent`. */
  readonly backend?: string;
  readonly model?: string;
  /** The most attempts at once. */
  readonly parallel?: number;
  /** A number of output tokens of agents, or limits such as `5usd,300calls`. */
  readonly budget?: number | string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Goes into the fingerprint of every call: raise it when results of before should be looked at again. */
  readonly version?: string;
}

/** The report of a run. An error of the program is in it and not thrown. */
export interface WorkflowReport<O> extends RunOutcome {
  readonly status: RunStatus;
  /** The value that the program returned; absent unless it completed. */
  readonly result?: O;
  /**
   * The error that the program threw, as it is, or that stopped the run: a `MlldError` with a `code` where mlld refused something. What was
   * thrown and is no Error is its `cause`.
   */
  readonly error?: Error;
  readonly totals: RunTotals;
  /** Undefined when nothing was recorded. */
  readonly journal?: RunRef;
}

export interface DurableWorkflow<I, O> {
  readonly name: string;
  /** Runs the program. Throws for misuse: BAD_OPTION, NOT_JSON, targets that are not there. */
  run(input: I, settings?: RunSettings): Promise<WorkflowReport<O>>;
  /** Says what a run would reuse, and which calls of the last run it would execute. Runs nothing. */
  plan(input: I, settings?: RunSettings): Promise<PlanReport>;
  /**
   * Runs the program with the recorded results of a run, by its id or another name, and nothing else: no body is called, no sleep waits.
   * The first call that was not recorded ends it with a divergence. Throws RUN_UNKNOWN and REPLAY_IMPOSSIBLE.
   */
  replay(run: string, settings?: Pick<RunSettings, 'project' | 'store'>): Promise<ReplayReport>;
}

const SETTINGS: Members<RunSettings> = {
  project: 'path of a folder',
  store: 'object',
  resume: 'true, false or a text',
  fresh: 'true or false',
  fork: 'text or list of texts',
  changed: ['serve', 'ask'],
  record: 'true or false',
  backend: 'text',
  model: 'text',
  parallel: 'whole number of at least 1',
  budget: 'number above 0, or a text',
  signal: 'AbortSignal',
  timeoutMs: 'number',
  version: 'text',
};
/** Words with slashes between: it is also the name of a folder of the journal. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*(?:\/[\p{L}\p{N}_][\p{L}\p{N}_. -]*)*$/u;

/**
 * Makes a durable program. Its record belongs to its name. Throws BAD_OPTION.
 *
 * ```js
 * const audit = workflow('audit', async (ctx, { files }) =>
 *   ctx.parallel(files, (file) => ctx.llm('judge', [file], async () => (await model.ask(`Judge ${file}`)).text)));
 * const { status, result } = await audit.run({ files: ['a.ts'] }, { resume: true });
 * ```
 */
export function workflow<I extends Json, O extends Json | void>(
  name: string,
  body: (ctx: Context, input: I) => Promise<O>,
): DurableWorkflow<I, O>;
/** The same for data that interfaces declare. */
export function workflow<I, O>(
  name: string,
  body: ((ctx: Context, input: I) => Promise<O & JsonLikeOrVoid<O>>) & ([I] extends [JsonLike<I>] ? unknown : NotJson),
): DurableWorkflow<I, O>;
export function workflow<I, O>(name: string, body: (ctx: Context, input: never) => Promise<O>): DurableWorkflow<I, O> {
  if (typeof name !== 'string' || !NAME.test(name))
    throw badOption('workflow()', `${JSON.stringify(name)} is no name`, "words, with slashes between them: 'berth-audit'");
  if (typeof body !== 'function') throw badOption('workflow()', 'the program is no function', 'async (ctx, input) => { … }');
  const program = {
    name,
    [PROGRAM]: body,
    async run(given: I, settings: RunSettings = {}) {
      const { runProgram } = await import('../session/workflow/run-program.js');
      const input = jsonOf(given, 'the input');
      const { options, agents } = await optionsOf(name, settings);
      const ended = await runProgram(options, agents, { input, version: settings.version, run: (ctx) => body(ctx, input as never) });
      const report = withProgramHints(ended, { argv: options.argv, words: OF_PROGRAMS });
      const { status, result, error, totals, journal, calls, pause, resume } = report;
      return {
        status,
        ...(result !== undefined && { result: result as O }),
        ...(error !== undefined && { error }),
        totals,
        ...(journal && { journal }),
        ...(calls && { calls }),
        ...(pause && { pause }),
        ...(resume !== undefined && { resume }),
      };
    },
    async replay(run: string, settings: Pick<RunSettings, 'project' | 'store'> = {}) {
      const { options } = await optionsOf(name, settings);
      const { project, workingDirectory, openStore, io } = options;
      const store = openStore ? await openStore('none') : await openProjectStore(project, { onWarning: io.stderr });
      try {
        const { ref } = await resolveRun(store, { ...project, workingDirectory }, run);
        const { replayProgram } = await import('../session/workflow/replay-program.js');
        const replayed = replayProgram((ctx, input) => body(ctx, input as never));
        return await replayWith({ store, ref, root: project.root, divergences: 'first', sinks: io }, replayed);
      } finally {
        if (!openStore) await store.close?.();
      }
    },
    async plan(given: I, settings: RunSettings = {}) {
      jsonOf(given, 'the input');
      const { planWork } = await import('../session/workflow/plan-work.js');
      const { options, agents } = await optionsOf(name, settings);
      return planWork({ options, settings: agents, version: settings.version }, undefined);
    },
  };
  return program;
}

async function optionsOf(name: string, settings: RunSettings): Promise<{ readonly options: RunOptions; readonly agents: AgentSettings }> {
  const where = `workflow(${JSON.stringify(name)})`;
  checkMembers(where, settings, SETTINGS);
  const { fresh, changed, backend, model, parallel, signal, timeoutMs, store, budget, record } = settings;
  const resume = settings.resume === true ? '' : settings.resume === false ? undefined : settings.resume;
  const forks = [settings.fork ?? []].flat();
  if (fresh === true && resume !== undefined)
    throw badOption(where, 'fresh and resume exclude each other', 'fresh forgets what resume would reuse');
  if (record === false && (resume !== undefined || fresh === true || forks.length > 0))
    throw badOption(where, 'record: false excludes resume, fresh and fork', 'leave one out');
  const defaults = hostDefaults();
  const workingDirectory = path.resolve(settings.project ?? defaults.workingDirectory);
  const project = await findProject(workingDirectory);
  const recordAs = path.resolve(project.root, name);
  const options: RunOptions = {
    script: { kind: 'text', text: '', directory: project.root, label: name, recordAs },
    name,
    project,
    workingDirectory,
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: withoutUndefined<CacheRequest>({ resume, fresh: fresh || undefined, changed, forks, noCheckpoint: record === false }),
    environment: defaults.environment,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(typeof budget === 'string' && { calls: { budget: parseBudget(budget, 'budget') } }),
    errorBehavior: 'continue',
    streaming: true,
    structured: false,
    io: defaults.io,
    signal: signal ?? new AbortController().signal,
    ...(store && { openStore: async () => store }),
  };
  const home = defaults.environment['HOME'];
  return { options, agents: { backend, model, parallel, totalTokens: typeof budget === 'number' ? budget : undefined, home } };
}
