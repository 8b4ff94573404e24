/**
 * `mlld run FILE.dot` and `mlld FILE.dot`: runs a pipeline. A file of its own, so that a script loads nothing of it. graph-pipelines.md
 * 13.1.
 */
import path from 'node:path';
import { messageOf, MlldError } from '../../src/errors.js';
import { backendFor, runPipeline, type PipelineReport, type PipelineRunOptions, type WhoAnswers } from '../../src/api/commands/pipeline.js';
import { findProject } from '../../src/api/commands/project.js';
import { EXIT_FAILED, EXIT_OK, exitStatusOf } from '../exit-codes.js';
import { RUN_PIPELINE } from '../command-table/pipelines.js';
import { callSettings } from '../options/call-settings.js';
import { refuseWorkers } from '../options/refuse-workers.js';
import { attached, toCommand, withCommander } from '../command-table/to-commander.js';
import { listenForInterruption, stoppedBy } from '../terminal/interruption.js';
import { openProgress } from '../render/progress/open.js';
import type { ProgressForm } from '../options/run-request.js';
import type { Io, Signal } from '../terminal/io.js';
import { oneLine } from '../render/one-line.js';
import { pipelineAgainCommand, pipelineAnewCommand, pipelineResumeCommand, type RecordedCommand } from '../render/resume-command.js';
import { styleFor } from '../render/style.js';
import { renderCompleted, renderDiagnostics, renderProgressOf } from '../render/reports/pipeline.js';
import { renderOpenQuestion, renderQuestion } from '../render/question.js';

interface Options {
  readonly yes?: boolean;
  readonly ask?: WhoAnswers;
  readonly set?: { readonly [key: string]: string };
  readonly backend?: string;
  readonly runDir?: string;
  readonly checkpoint?: boolean;
  readonly resume?: string | true;
  readonly fork?: readonly string[];
  readonly keepOrphans?: true;
  readonly timeout?: number;
  readonly journalWait?: number;
  readonly unrecorded?: boolean;
  readonly progress?: ProgressForm;
  readonly verbose?: true;
  readonly retries?: string;
  readonly callTimeout?: string;
  readonly concurrency?: string;
  readonly budget?: string;
  readonly maxCalls?: string;
  readonly budgetStrict?: true;
  readonly allowFailures?: true;
  readonly waitQuota?: string;
  readonly plan?: boolean;
  readonly json?: boolean;
}

export async function runPipelineCommand(io: Io, argv: readonly string[]): Promise<number> {
  refuseWorkers(argv, { executes: 'a pipeline executes its stages itself' });
  let status: number = EXIT_OK;
  // Named with the file, because `mlld run --help` explains the options of scripts.
  const named = toCommand('mlld run FILE.dot', RUN_PIPELINE).usage('[options]');
  const command = attached(named, RUN_PIPELINE, io).action(async (file: string, options: Options) => {
    status = await runAndRender(io, argv, file, options);
  });
  return withCommander(async () => {
    await command.parseAsync([...argv], { from: 'user' });
    return status;
  });
}

async function runAndRender(io: Io, argv: readonly string[], target: string, options: Options): Promise<number> {
  const file = path.resolve(io.workingDirectory, target);
  const project = await findProject(path.dirname(file));
  const style = styleFor(io.colours.stderr);
  if (options.backend !== undefined) refuseBackend(options.backend);
  if (options.json === true && options.plan !== true)
    throw new MlldError('USAGE', '--json is an option of --plan', { hint: 'mlld run FILE.dot --plan --json' });
  const interruption = listenForInterruption(io);
  let runId = '';
  const people = options.yes ? 'auto' : (options.ask ?? (io.readLine ? 'console' : 'stdin'));
  const calls = callSettings(options);
  const progress = options.plan === true ? undefined : await openProgress(io, options.progress, io.stderr);
  const stdout = progress?.around(io.document) ?? io.document;
  const stderr = progress?.around(io.stderr) ?? io.stderr;
  const wanted: PipelineRunOptions = {
    file,
    name: target,
    project,
    workingDirectory: io.workingDirectory,
    argv,
    set: options.set ?? {},
    ...(options.backend === undefined ? {} : { backend: options.backend }),
    ...(options.runDir === undefined ? {} : { runDirectory: options.runDir }),
    checkpoint: options.checkpoint === true,
    ...(options.resume === undefined ? {} : { resume: options.resume === true ? '' : options.resume }),
    ...(options.fork === undefined ? {} : { forks: options.fork }),
    ...(options.keepOrphans ? { keepOrphans: true } : {}),
    people,
    environment: io.environment,
    ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
    ...(options.journalWait === undefined ? {} : { journalWaitMs: options.journalWait }),
    ...(options.unrecorded === undefined ? {} : { unrecorded: options.unrecorded }),
    ...(calls === undefined ? {} : { calls }),
    io: {
      stdin: io.stdin,
      stdout,
      stderr,
      nowMs: io.todayMs,
      monotonicMs: io.nowMs,
      ...(io.readLine ? { readLine: io.readLine } : {}),
    },
    signal: interruption.signal,
    ...(options.verbose && { verbose: true }),
    ...(progress && { onProgress: progress.update }),
    onFindings: (findings) => stderr(renderDiagnostics(findings, style)),
    onState: (state) => (runId = state.runId ?? ''),
    onEvent: (event) => {
      if (event.type !== 'question.asked') stderr(renderProgressOf(event));
      else if (people === 'remote') stderr(renderQuestion(event, runId));
      else if (people === 'stdin') stderr(renderOpenQuestion(event));
    },
  };
  if (options.plan === true) return showPlan(io, wanted, options.json === true).finally(interruption.stop);
  const startedMs = io.nowMs();
  const report = await runPipeline(wanted).finally(() => {
    progress?.stop();
    interruption.stop();
  });
  await conclude(io, { target, argv, elapsedMs: io.nowMs() - startedMs, signal: interruption.received() }, report);
  const allowsFailures = calls?.allowFailures ?? project.config.calls?.allowFailures ?? false;
  return exitStatusOf(report, interruption.received(), allowsFailures);
}

async function showPlan(io: Io, wanted: PipelineRunOptions, isJson: boolean): Promise<number> {
  const { planPipeline } = await import('../../src/api/commands/plan-pipeline.js');
  const plan = await planPipeline(wanted);
  if (plan === undefined) return EXIT_FAILED; // lint has said why
  const { renderPipelinePlan } = await import('../render/reports/pipeline-plan.js');
  io.stdout(isJson ? `${JSON.stringify(plan, undefined, 2)}\n` : renderPipelinePlan(plan, styleFor(io.colours.stdout)));
  return EXIT_OK;
}

interface Ended {
  readonly target: string;
  readonly argv: readonly string[];
  readonly elapsedMs: number;
  /** Ended the run. */
  readonly signal: Signal | undefined;
}

/** Prints how the run ended, with the commands that resume it and explain it, and what its calls came to. */
async function conclude(io: Io, { target, argv, elapsedMs, signal }: Ended, report: PipelineReport): Promise<void> {
  const { status, pipeline, journal, error, notice, left, calls, childCalls, pause, argv: recorded = argv } = report;
  const { unresolvedBefore = 0 } = report;
  const { unresolved = 0, unresolvedInResults = 0, unresolvedInside = 0 } = calls ?? {};
  const inResults = unresolvedInResults + unresolvedInside;
  if (notice !== undefined) io.stderr(`${notice}\n`);
  if (left !== undefined) io.stderr(leftOver(left, 'run', { name: target, argv: left.argv }));
  const isCompleted = status === 'completed';
  if (isCompleted) io.stdout(renderCompleted(pipeline ?? target));
  else if (journal === undefined) {
    if (error === undefined) return; // lint has said why
    const { renderError } = await import('../render/error.js');
    return io.stderr(renderError(error, {}));
  }
  const command = { name: target, argv: recorded, pause };
  const isIncomplete = isCompleted && unresolved + unresolvedBefore + unresolvedInside > 0;
  const hasCallsToMake = isCompleted && unresolved - unresolvedInResults + unresolvedBefore > 0;
  const next = hasCallsToMake ? pipelineAgainCommand(command) : isCompleted ? undefined : pipelineResumeCommand(command);
  if (journal && next !== undefined && status === 'interrupted' && signal !== undefined) {
    const kept = (calls?.executed ?? 0) + (calls?.reused ?? 0);
    io.stderr(`${stoppedBy(signal)} ${kept} ${kept === 1 ? 'result' : 'results'} kept; continue: ${next}\n`);
    io.stderr(`  look at it: mlld journal postmortem ${journal.run}\n`);
  } else if (journal && isIncomplete) {
    io.stderr(`  look at it: mlld journal postmortem ${journal.run}\n`);
  } else if (journal && next !== undefined) {
    if (!calls) io.stderr(`  resume: ${next}\n`);
    io.stderr(`  look at it: mlld journal postmortem ${journal.run}\n`);
    if (pause) io.stderr((await import('../render/pause.js')).renderPause(error));
    else io.stderr(`${pipeline}: ${status === 'failed' ? 'failed' : status}: ${oneLine(messageOf(error))}\n`);
  }
  if (isCompleted) io.stderr(leftOver({ unresolved: unresolvedBefore, inResults }, 'runs that this one continues', command));
  const { renderCallSummary, renderChildCalls, renderNoCalls } = await import('../render/call-summary.js');
  if (childCalls) io.stderr(renderChildCalls(childCalls));
  if (calls) io.stderr(renderCallSummary(calls, { elapsedMs, next }));
  else if (journal) io.stderr(renderNoCalls(elapsedMs));
  if (pause && next !== undefined) {
    const { timerCommand } = await import('./conclude.js');
    io.stderr(timerCommand(io, pipelineResumeCommand({ name: target, argv: recorded })));
  }
}

/** Says how calls are executed again that have no result, and that no resume reaches. `whose`: `run`, `runs that this one continues`. */
function leftOver(
  { unresolved, inResults }: Omit<NonNullable<PipelineReport['left']>, 'argv'>,
  whose: string,
  command: RecordedCommand,
): string {
  return `${unresolved === 0 ? '' : leftBehind(unresolved, whose, command)}${inResults === 0 ? '' : leftInside(inResults, command)}`;
}

function leftBehind(count: number, whose: string, command: RecordedCommand): string {
  const calls = count === 1 ? `1 call of the ${whose} has no result` : `${count} calls of the ${whose} have no result`;
  const again = pipelineAgainCommand(command) ?? `${pipelineAnewCommand(command)}, with the --set of the first run,`;
  return `  ${calls}: ${again} executes ${count === 1 ? 'it' : 'them'} again\n`;
}

/** The result around such a call is reused by a run from the start. */
function leftInside(count: number, command: RecordedCommand): string {
  const calls = count === 1 ? '1 call inside the result of a stage has none' : `${count} calls inside results of stages have none`;
  return `  ${calls}: ${pipelineResumeCommand(command, 'NODE')} executes a stage again, and what follows from it\n`;
}

function refuseBackend(written: string): void {
  try {
    backendFor(written);
  } catch (error) {
    throw new MlldError('USAGE', `--backend: ${(error as Error).message}`, { hint: 'mlld run FILE.dot --help' });
  }
}
