/** Plans the run of a workflow script or program: the results that it would reuse, and the calls that are certain to be executed. */
import type { CallKey, Workflow } from '../../../journal/ids.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { isSimulated, type Memo } from '../../../replay/memo/memo.js';
import type { Estimate } from '../../../replay/resume/estimate.js';
import { predictOutermost, reuseBy } from '../../../replay/resume/predict-calls.js';
import { AGENT_FUNCTION } from '../../../replay/workflows/resolve-workflow-target.js';
import type { LearnedPace } from '../../calls/dispatch/ports.js';
import { createLiveWorld } from '../../world/live.js';
import { recordPath } from '../ports/recording.js';
import { openPriorRuns } from '../ports/prior-runs.js';
import { readOnlyStore } from '../ports/read-only-store.js';
import { withoutOwnSecrets } from '../../world/own-secrets.js';
import { workflowFor } from '../project.js';
import { callSettings } from '../script/call-settings.js';
import { learnedPace } from '../script/learned-pace.js';
import { comparedRuns, isCompleted } from '../script/plan/estimate-facts.js';
import { budgetVerdict, type BudgetVerdict } from '../script/plan/plan-budget.js';
import type { RunOptions } from '../script/run-options.js';
import { estimateWork } from './estimate-work.js';
import { answeredOtherwise } from './answered-otherwise.js';
import { NOT_COMPARED, plannedEdits, type PlannedWork } from './planned-edits.js';
import { callsOf } from './recorded-samples.js';
import { closeWorld, openRunStore } from '../run-store.js';
import type { AgentSettings } from './recorded-work.js';
import { readWorkflowFile } from './workflow-files.js';
import { workflowRecord } from './workflow-record.js';

/** Simulated agents cost nothing, whatever agents had cost before. */
const COSTS_OF_TRIAL: LearnedPace['costs'] = new Map([[AGENT_FUNCTION, [{ usd: 0, tokens: 0 }]]]);

export interface PlannedAgent {
  readonly label: string | null;
  readonly phase: string | null;
  /** The beginning of the prompt; null where it may not be read. */
  readonly prompt: string | null;
}

/** The members are those that `--plan --json` prints. */
export interface PlanReport {
  readonly workflow: Workflow;
  readonly name: string;
  /** Results that the run would reuse, if it makes the calls of the last run; calls that the function of an agent makes are not counted. */
  readonly reused: number;
  /** The number of calls whose results came back, in a call that their function makes: the guards behind that judge them. calls.md 17.4 */
  readonly unjudged: number;
  /** Calls of the last run that would be executed, but for these. What follows from new results is not known before. */
  readonly toExecute: readonly PlannedAgent[];
  /** Time and cost of the run if it makes the same calls, those that the functions of agents make among them; null without a run. */
  readonly estimate: Estimate | null;
  /** US dollars that the reused results had cost; null where none of them is known. */
  readonly savedUsd: number | null;
  /** Says if the budget will do; null without one. */
  readonly budget: BudgetVerdict | null;
  /** The id of the last recorded run. */
  readonly lastRun: string | null;
  /** Counts the runs that say which calls are predicted: the last one, and those before it back to one that completed. */
  readonly comparedRuns: number;
  /** A recorded run reached its end: else calls are left out that none has made yet. */
  readonly isWhole: boolean;
  /** Lines that the run would write to standard error before it starts. */
  readonly notices: readonly string[];
}

/**
 * Throws the errors with which a run with these options would not start. A plan without a flag assumes `--resume`.
 *
 * @param phases undefined for a program of the library
 */
export async function planWork(planned: PlannedWork, phases: readonly string[] | undefined): Promise<PlanReport> {
  const { options: given, settings } = planned;
  const { script, project, workingDirectory, io, environment, signal, name } = given;
  const world = createLiveWorld({ ...io, environment: withoutOwnSecrets(environment), signal });
  try {
    const store = readOnlyStore(await openRunStore(given, world));
    const isBare = given.cache.resume === undefined && given.cache.fresh !== true;
    const options = isBare ? { ...given, cache: { ...given.cache, resume: '' } } : given;
    const backend = settings.backend ?? project.config.agent?.backend;
    const record = workflowRecord(options, { phases, input: null, settings, store, onStart: () => undefined });
    const opened = await openPriorRuns({
      store,
      project: { ...project, workingDirectory },
      workflow: workflowFor(project, recordPath(script)),
      cache: options.cache,
      declarations: { declares: () => false, knownFunctions: ['agent'] },
      onDefect: () => undefined,
      resolveTarget: record.resolveTarget,
      notOffered: record.notOffered,
    });
    const { loaded, usable, forks, invalidations, notices, advice } = opened;
    const calls = await callsOf({ store, prior: loaded, forks, onDefect: () => undefined });
    const labelOf = (key: CallKey): string | undefined => calls.about.get(key)?.label;
    const isEdited = await plannedEdits(store, [usable, ...forks], planned, { world, labelOf });
    const sources = forks.map(({ memo }) => memo);
    const isReused = reuseBy({ own: usable.memo, sources }, opened.selected, (entry) => !isEdited(entry));
    const predicted = [...predictOutermost(loaded.memo, sources)];
    const memos: readonly [Memo, ...Memo[]] = [loaded.memo, ...sources];
    const isTrial = backend === SIMULATED;
    const isUnjudged = unjudgedIn(usable.memo, opened.selected.keys, isTrial);
    const missing = predicted.filter((key) => !isReused(key));
    const toExecute = missing.filter((key) => !isUnjudged(key));
    const isAnsweredOtherwise = !isTrial && (await answeredOtherwise(store, [loaded, ...forks], { ...planned, options }, toExecute));
    const recorded = { store, runs: loaded.runs, memos, isReused, isUnjudged, isTrial, isAnsweredOtherwise };
    const { estimate, executes, savedUsd } = await estimateWork(recorded);
    const isWhole = loaded.runs.some(isCompleted);
    const limits = callSettings(options).budget;
    const ofRuns = { current: undefined, nowMs: io.nowMs(), listed: loaded.runs, reserves: true };
    const history = isTrial ? COSTS_OF_TRIAL : limits && (await learnedPace(store, loaded.workflow, ofRuns)).costs;
    const expected = history && estimate && { estimate, executes, history, maxCosts: new Map(), isWhole };
    return {
      workflow: loaded.workflow,
      name,
      reused: predicted.length - missing.length,
      unjudged: missing.length - toExecute.length,
      toExecute: toExecute.map((key) => {
        const { label = null, phase = null } = calls.about.get(key) ?? {};
        const prompt = memos.map(({ entries }) => entries.get(key)?.preview).find((found) => found !== undefined) ?? null;
        return { label, phase, prompt };
      }),
      estimate: estimate ?? null,
      savedUsd,
      budget: limits ? budgetVerdict(limits, expected) : null,
      lastRun: loaded.runs.at(-1)?.ref.run ?? null,
      comparedRuns: comparedRuns(loaded.runs),
      isWhole,
      notices: [
        ...(invalidations.length === 0 ? notices : []),
        ...advice,
        ...(phases === undefined && (given.cache.changed ?? 'serve') !== 'serve' ? [NOT_COMPARED] : []),
      ],
    };
  } finally {
    await closeWorld(world, 'the plan is made');
  }
}

/**
 * Returns whether the result of a call waits for guards, and no target takes it away. That of an agent waits where it is in the calls that
 * its function made: nothing is executed for them again.
 */
function unjudgedIn(memo: Memo, selected: ReadonlySet<CallKey>, isTrial: boolean): (key: CallKey) => boolean {
  const { unjudged, within, entries } = memo;
  const waits = (key: CallKey): boolean => {
    const waiting = unjudged.get(key);
    return waiting !== undefined && !selected.has(key) && (isTrial || !isSimulated(memo, waiting));
  };
  const waiting = new Set([...unjudged.keys()].filter(waits).flatMap((key) => [...(within.get(key) ?? [])]));
  for (const [key, around] of within) {
    if (waits(key) || entries.get(key)?.result !== undefined) continue;
    for (const caller of around) waiting.delete(caller); // it makes a call that has no result
  }
  return (key) => waits(key) || (waiting.has(key) && !selected.has(key));
}

/** `--plan` of a workflow script. Throws the errors with which a run with these options would not start. */
export async function planWorkflow(options: RunOptions, settings: AgentSettings): Promise<PlanReport> {
  const { script, workingDirectory } = options;
  if (script.kind !== 'file') throw new Error('a workflow script is a file');
  const { text } = await readWorkflowFile(script.path, { workingDirectory });
  return planWork({ options, settings }, text.meta.phases);
}
