/**
 * `mlld run FILE.dot` and `mlld FILE.dot`: runs a pipeline. A file of its own, so that a script loads nothing of it. graph-pipelines.md
 * 13.1.
 */
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { backendFor, runPipeline, type PipelineReport, type PipelineRunOptions, type WhoAnswers } from '../../src/api/commands/pipeline.js';
import { findProject } from '../../src/api/commands/project.js';
import { EXIT_AFTER_SIGNAL, EXIT_FAILED, EXIT_OK, EXIT_PAUSED } from '../exit-codes.js';
import { RUN_PIPELINE } from '../command-table/pipelines.js';
import { callSettings } from '../options/call-settings.js';
import { attached, toCommand, withCommander } from '../command-table/to-commander.js';
import { listenForInterruption } from '../terminal/interruption.js';
import type { Io } from '../terminal/io.js';
import { pipelineResumeCommand } from '../render/resume-command.js';
import { styleFor } from '../render/style.js';
import { renderCompleted, renderDiagnostics, renderProgressOf } from '../render/reports/pipeline.js';
import { renderQuestion } from '../render/question.js';

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
  readonly retries?: string;
  readonly callTimeout?: string;
  readonly concurrency?: string;
  readonly budget?: string;
  readonly maxCalls?: string;
  readonly budgetStrict?: true;
  readonly waitQuota?: string;
  readonly plan?: boolean;
  readonly json?: boolean;
}

export async function runPipelineCommand(io: Io, argv: readonly string[]): Promise<number> {
  let status: number = EXIT_OK;
  const command = attached(toCommand('mlld run', RUN_PIPELINE), RUN_PIPELINE, io).action(async (file: string, options: Options) => {
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
      stdout: io.document,
      stderr: io.stderr,
      nowMs: io.todayMs,
      monotonicMs: io.nowMs,
      ...(io.readLine ? { readLine: io.readLine } : {}),
    },
    signal: interruption.signal,
    onFindings: (findings) => io.stderr(renderDiagnostics(findings, style)),
    onState: (state) => (runId = state.runId ?? ''),
    onEvent: (event) =>
      io.stderr(people === 'remote' && event.type === 'question.asked' ? renderQuestion(event, runId) : renderProgressOf(event)),
  };
  if (options.plan === true) return showPlan(io, wanted, options.json === true).finally(interruption.stop);
  const report = await runPipeline(wanted).finally(interruption.stop);
  await conclude(io, target, argv, report);
  const signal = interruption.received();
  if (report.status === 'interrupted' && signal !== undefined) return EXIT_AFTER_SIGNAL[signal];
  if (report.status === 'paused') return EXIT_PAUSED;
  return report.status === 'completed' ? EXIT_OK : EXIT_FAILED;
}

async function showPlan(io: Io, wanted: PipelineRunOptions, isJson: boolean): Promise<number> {
  const { planPipeline } = await import('../../src/api/commands/plan-pipeline.js');
  const plan = await planPipeline(wanted);
  if (plan === undefined) return EXIT_FAILED; // lint has said why
  const { renderPipelinePlan } = await import('../render/reports/pipeline-plan.js');
  io.stdout(isJson ? `${JSON.stringify(plan, undefined, 2)}\n` : renderPipelinePlan(plan, styleFor(io.colours.stdout)));
  return EXIT_OK;
}

/** Prints how the run ended, after the commands that resume it and explain it. */
async function conclude(
  io: Io,
  target: string,
  argv: readonly string[],
  { status, pipeline, journal, error, notice, argv: recorded = argv }: PipelineReport,
): Promise<void> {
  if (notice !== undefined) io.stderr(`${notice}\n`);
  if (status === 'completed') return io.stdout(renderCompleted(pipeline ?? target));
  if (journal === undefined) {
    if (error === undefined) return; // lint has said why
    const { renderError } = await import('../render/error.js');
    return io.stderr(renderError(error, {}));
  }
  io.stderr(`  resume: ${pipelineResumeCommand({ name: target, argv: recorded })}\n  look at it: mlld journal postmortem ${journal.run}\n`);
  io.stderr(`${pipeline}: ${status === 'failed' ? 'failed' : status}: ${error instanceof Error ? error.message : String(error)}\n`);
}

function refuseBackend(written: string): void {
  try {
    backendFor(written);
  } catch (error) {
    throw new MlldError('USAGE', `--backend: ${(error as Error).message}`, { hint: 'mlld run FILE.dot --help' });
  }
}
