/**
 * Runs a script for `mlld FILE` and `mlld run`: handles signals, shows progress, reports errors and how to resume.
 *
 * RUN-SCRIPT-1 the first signal aborts the run, which then ends in order: subprocesses end, the journal says `interrupted`.
 * RUN-SCRIPT-2 standard output belongs to the script; everything of ours goes to standard error.
 */
import type { Project } from '../../src/api/commands/project.js';
import { runScript, type RunOptions, type RunReport, type ScriptSource } from '../../src/api/commands/script.js';
import { environmentFor } from '../options/environment.js';
import { exitStatusOf } from '../exit-codes.js';
import { listenForInterruption, stoppedBy } from '../terminal/interruption.js';
import { trackUnfinishedLine } from '../terminal/unfinished-line.js';
import type { Io, Signal } from '../terminal/io.js';
import type { Log } from '../terminal/log.js';
import type { CommandForm } from '../command-table/rows.js';
import type { RunRequest } from '../options/run-request.js';
import { openProgress } from '../render/progress/open.js';

const LOG_EVERY_MS = 1000;

export interface Execution {
  readonly request: RunRequest;
  readonly form: CommandForm;
  /** Words behind `mlld` or `mlld run`. */
  readonly argv: readonly string[];
  readonly script: ScriptSource;
  readonly project: Project;
  readonly name: string;
  /** Runs something else than a script of the language. */
  readonly run?: typeof runScript;
  /** Returns further lines about a run that is paused. They come before its last lines, because a timer starts the very last one. */
  readonly aboutPaused?: () => string;
}

export async function runAndReport(io: Io, execution: Execution): Promise<number> {
  const { request, project, name } = execution;
  const log = request.debug ? (await openDebugLog(io)).child({ script: name }) : undefined;
  const line = trackUnfinishedLine({ stdout: io.document, stderr: io.stderr, oneOutput: io.oneOutput });
  const message = (text: string): void => {
    line.end();
    line.stderr(text);
  };
  const progress = request.debug ? undefined : await openProgress(io, request.progress, message);
  const runIo = {
    stdin: io.stdin,
    nowMs: io.todayMs,
    monotonicMs: io.nowMs,
    stdout: progress?.around(line.stdout) ?? line.stdout,
    stderr: progress?.around(line.stderr) ?? line.stderr,
    message: progress?.around(message) ?? message,
  };
  const options = await optionsFor(io, execution);
  const interruption = listenForInterruption({ onSignal: io.onSignal, stderr: runIo.message });
  interruption.signal.addEventListener('abort', () => log?.info({ signal: interruption.received() }, 'signal received'));
  const startedMs = io.nowMs();
  log?.info({ root: project.root, cache: request.cache }, 'run starts');
  const onProgress = progress?.update ?? (log && progressLog(io, log));
  const running = (execution.run ?? runScript)({
    ...options,
    cache: execution.form === 'run' && project.config.record !== false ? { ...options.cache, record: true } : options.cache,
    io: runIo,
    signal: interruption.signal,
    ...(onProgress && { onProgress }),
    ...(progress && { onAtWorkers: progress.updateWorkers }),
  });
  running.catch(line.end); // a broken invariant: the caller prints it
  const report = await running.finally(() => {
    progress?.stop();
    interruption.stop();
  });
  if (report.status !== 'completed') line.end();
  const signal = interruption.received();
  const elapsedMs = Math.round(io.nowMs() - startedMs);
  log?.info({ status: report.status, run: report.journal?.run, elapsedMs }, 'run ended');

  if (request.structured && report.structured && report.error === undefined)
    io.stdout(`${JSON.stringify({ ...report.structured, ...(report.calls && { calls: report.calls }) }, undefined, 2)}\n`);
  await explain(io, execution, report, signal);
  if (request.debug && execution.form === 'run') io.stderr(`Metrics:\n  total time: ${elapsedMs} ms\n`);
  else if (request.metrics) io.stderr(`Total time: ${elapsedMs} ms\n`);
  if (report.pause !== undefined && execution.aboutPaused !== undefined) io.stderr(execution.aboutPaused());
  const isCutShort = signal === 'SIGPIPE' && report.journal === undefined; // `| head -1` has what it wanted
  if ((report.calls !== undefined || report.journal !== undefined || report.pause !== undefined) && !isCutShort) {
    const { concludeRun } = await import('./conclude.js');
    concludeRun(io, execution, report, elapsedMs);
  }
  return exitStatusOf(report, signal, allowsFailures(execution));
}

function allowsFailures({ request, project }: Execution): boolean {
  return request.calls?.allowFailures ?? project.config.calls?.allowFailures ?? false;
}

async function openDebugLog(io: Io): Promise<Log> {
  const { openLog } = await import('../terminal/log.js');
  return openLog(io);
}

function progressLog(io: Io, log: Log): NonNullable<RunOptions['onProgress']> {
  const calls = log.child({ about: 'calls' });
  let loggedMs = -Infinity;
  return ({ executed, reused, failed, inFlight }) => {
    const now = io.nowMs();
    if (now - loggedMs < LOG_EVERY_MS) return;
    loggedMs = now;
    calls.debug({ executed, reused, failed, inFlight: inFlight.size }, 'progress');
  };
}

export async function optionsFor(io: Io, { request, argv, script, project, name }: Execution): Promise<Omit<RunOptions, 'signal' | 'io'>> {
  const environment = await environmentFor(io, request.environment);
  return {
    script,
    ...(request.mode === undefined ? {} : { mode: request.mode }),
    ...(request.timeoutMs === undefined ? {} : { timeoutMs: request.timeoutMs }),
    ...(request.journalWaitMs === undefined ? {} : { journalWaitMs: request.journalWaitMs }),
    ...(request.workers && { workers: request.workers }),
    unrecorded: request.unrecorded,
    verbose: request.verbose,
    ...(request.calls === undefined ? {} : { calls: request.calls }),
    name,
    project,
    workingDirectory: io.workingDirectory,
    argv,
    payload: request.payload,
    inject: request.inject,
    state: request.state,
    cache: request.cache,
    environment,
    errorBehavior: request.errorBehavior,
    streaming: request.streaming && environment['MLLD_NO_STREAM'] !== 'true',
    structured: request.structured,
  };
}

/** Reports what ended the run, and how to resume it if something was recorded. */
async function explain(io: Io, execution: Execution, report: RunReport, signal: Signal | undefined): Promise<void> {
  const { argv, name, project, request } = execution;
  if (report.status === 'completed') return;
  const isStopped = report.status === 'interrupted' && signal !== undefined && signal !== 'SIGPIPE';
  if (signal === 'SIGPIPE') {
    // `| head -1` has what it wanted. Without a record there is nothing to resume.
    if (report.journal !== undefined) io.stderr('Standard output was closed before the run was done\n');
  } else if (report.pause !== undefined) {
    const { renderPause } = await import('../render/pause.js');
    io.stderr(renderPause(report.error));
  } else if (isStopped) {
    if (report.journal === undefined) io.stderr(`${stoppedBy(signal)}\n`);
  } else if (report.error !== undefined) {
    const { renderError } = await import('../render/error.js');
    io.stderr(renderError(report.error, {}));
  } else if (report.status === 'interrupted') io.stderr('Interrupted\n');
  if (report.journal === undefined) return;
  const { adviseResume } = await import('./resume-advice.js');
  await adviseResume(io, project, report.journal, {
    command: { name, argv },
    isInSummary: report.calls !== undefined && !request.structured,
    ...(isStopped && { stopped: stoppedBy(signal) }),
  });
}
