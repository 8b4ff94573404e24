/**
 * Puts a run of a script together and sees it to its end: text, tree, prior runs, journal, world, evaluation.
 *
 * SESSION-3  Nothing is recorded before the script parses and the `--resume` target is resolved: what is refused is not a run.
 * SESSION-4  `run.started` is on disk before the first statement runs; `run.finished` is the last event of every run that ends in order.
 * SESSION-5  Trouble with the journal is reported once. A run whose journal is lost is paused before its next call; without calls it
 *            continues.
 */
import type { RunStatus } from '../../../journal/facts/run-event.js';
import { MlldError } from '../../errors.js';
import { Bail } from '../../runtime/errors.js';
import type { FailedCommand, RunState } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import type { World } from '../../world/world.js';
import { endRun } from '../end-run.js';
import { callSettings, headerBudget } from './call-settings.js';
import type { OpenedJournal } from '../ports/opened-journal.js';
import { superviseRun } from '../run-lifecycle.js';
import { createDocument, type KeptDocument } from './document.js';
import { executeScript } from './execute-script.js';
import { openRun } from '../open-run.js';
import { openScript } from './open-script.js';
import type { RunOptions, RunReport } from './run-options.js';
import { stateFor } from './settings.js';
import { structuredResult } from './structured-result.js';

export function runScript(options: RunOptions): Promise<RunReport> {
  // The script writes through the world; everything else that is written here is a message.
  const { io } = options;
  const withMessages = { ...options, io: { ...io, stderr: io.message ?? io.stderr } };
  return superviseRun(options, {
    onStop: 'close-world',
    work: (world, signal, pause) => prepareAndRun(withMessages, world, signal, pause),
  });
}

async function prepareAndRun(options: RunOptions, world: World, signal: AbortSignal, pause: () => void): Promise<RunReport> {
  const { script, module } = await openScript(options, world); // SESSION-3
  const document = createDocument({ streaming: options.streaming && !options.structured, collects: options.structured });
  const state = await stateFor(options.state, module.directory, world);
  const parts = { script, module, state, calls: callSettings(options, headerBudget(script, module)), document };
  const { journal, frame } = await openRun(options, parts, { world, signal, pause }); // SESSION-3
  const { run } = frame;
  const printsAtEnd = !options.streaming && !options.structured;
  const keepsSource = options.script.kind === 'file' || options.script.recordAs !== undefined;
  const error = await executeScript(script, frame, { document, printsAtEnd, keepsSource, started: journal.started });
  if (error !== undefined && printsAtEnd) printShown(document, options.io);
  return finish({ options, module, run, journal, document, signal, error });
}

/**
 * Prints what a buffered run had shown before an error ended it. Bypasses the world, which is closed already if the run was interrupted;
 * the journal needs no fact of it, because it follows from what was shown.
 */
function printShown(document: KeptDocument, { stdout, stderr }: RunOptions['io']): void {
  if (document.text() === '') return;
  try {
    stdout(`${document.normalised()}\n`);
  } catch (error) {
    stderr(`warning: what was shown before the error is lost: ${(error as Error).message}\n`); // the error itself matters more
  }
}

interface Ended {
  readonly options: RunOptions;
  readonly module: Module;
  readonly run: RunState;
  readonly journal: OpenedJournal;
  readonly document: KeptDocument;
  readonly signal: AbortSignal;
  /** Undefined when the script ran to its end. */
  readonly error: unknown;
}

async function finish({ options, module, run, journal, document, signal, error }: Ended): Promise<RunReport> {
  const { reason } = options.signal;
  const stray: unknown = reason instanceof MlldError ? reason : undefined; // an error of code that the script did not wait for
  const status = statusOf(error ?? stray, signal);
  run.calls?.dispatcher.end();
  reportFailedCommands(run);
  const report = await endRun({ options, run, journal, status, error: stray ?? error }); // SESSION-4
  if (!options.structured || report.error !== undefined) return report;
  return { ...report, structured: structuredResult(module, run, document) };
}

function statusOf(error: unknown, signal: AbortSignal): RunStatus {
  if (error === undefined) return 'completed';
  const isInterruption = error instanceof MlldError && error.code === 'INTERRUPTED';
  return signal.aborted && (isInterruption || !(error instanceof Bail)) ? (signal.reason as RunStatus) : 'failed';
}

/** Lists failed commands at the end of a run, those of one place in a line: control.md 24.2. */
function reportFailedCommands({ failedCommands, isVerbose, warn }: RunState): void {
  const causes = new Map<string, FailedCommand[]>();
  failedCommands.forEach((failed, i) => {
    const cause = isVerbose ? `${i}` : `${failed.exitCode} ${failed.where}`;
    const alike = causes.get(cause);
    if (alike) alike.push(failed);
    else causes.set(cause, [failed]);
  });
  for (const [first, ...others] of causes.values()) {
    if (!first) continue;
    const { command, exitCode, where, item, reason } = first;
    const times = others.length === 0 ? '' : `, ${others.length + 1} times`;
    const said = item === '' || others.length === 0 ? reason : [`first for ${item}`, reason].filter((text) => text !== '').join(': ');
    warn(`command ended with status ${exitCode}${times}: ${command} (${where})${said === '' ? '' : `: ${said}`}`);
  }
}
