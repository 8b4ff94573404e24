/**
 * Puts a run together and sees it to its end: text, tree, past, journal, world, evaluation. One function of the library.
 *
 * R1  Nothing is recorded before the script parses and the `--resume` target is resolved: what is refused is not a run.
 * R2  `run.started` is on disk before the first statement runs, `run.finished` is the last event of every run that ends in order.
 * R3  Trouble with the journal is reported once. A run whose journal is lost is paused before its next call; without calls it goes on.
 */
import type { FactOf, RunStatus, RunTotals } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { Bail, placeOf } from '../../runtime/errors.js';
import { execute } from '../../language/evaluate.js';
import type { RunState } from '../../runtime/frame.js';
import type { Module } from '../../runtime/module.js';
import { PaidCalls } from '../../runtime/paid-calls.js';
import { SecretRegistry } from '../../runtime/secret-registry.js';
import { concealError } from '../ports/conceal.js';
import { createDocument, type KeptDocument } from './document.js';
import { settingsFor, stateFor } from './settings.js';
import { openJournal, type OpenedJournal } from '../ports/run-journal.js';
import { rootFrame, createRunState } from './root-frame.js';
import { pausedError, pauseOf } from '../pause-error.js';
import { openScript } from './open-script.js';
import { executeScript } from './execute-script.js';
import { structuredResult } from './structured-result.js';
import { timedOut, superviseRun } from '../run-lifecycle.js';
import type { RunOptions, RunReport } from './run-options.js';
import type { World } from '../../world/world.js';

export function runScript(options: RunOptions): Promise<RunReport> {
  // The script writes through the world, everything else here are messages.
  const { io } = options;
  const told = { ...options, io: { ...io, stderr: io.message ?? io.stderr } };
  return superviseRun(options, true, (world, ending, pause) => prepareAndRun(told, world, ending, new PaidCalls(pause)));
}

async function prepareAndRun(options: RunOptions, world: World, ending: AbortSignal, paidCalls: PaidCalls): Promise<RunReport> {
  const { script, module } = await openScript(options, world); // R1
  const settings = await settingsFor(options, module.directory, world);
  const state = await stateFor(options.state, module.directory, world);
  const secrets = new SecretRegistry();
  const journal = await openJournal(options, script, { world, secrets, signal: ending, paidCalls, inputs: { settings, state } }); // R1
  const document = createDocument({ streaming: options.streaming && !options.structured, collects: options.structured });
  const run = createRunState({
    options,
    world,
    recorder: journal.recorder,
    cache: journal.cache,
    secrets,
    document,
    settings,
    state,
    signal: ending,
    paidCalls,
  });
  const frame = rootFrame(run, module, execute);
  const printsAtEnd = !options.streaming && !options.structured;
  const keepsSource = options.script.kind === 'file' || options.script.recordAs !== undefined;
  const error = await executeScript(script, frame, { document, printsAtEnd, keepsSource });
  if (error !== undefined && printsAtEnd) printShown(document, options.io);
  return finish({ options, module, run, journal, document, ending, error });
}

/**
 * What a buffered run has shown until an error ended it. Past the world, which is closed behind a run that was interrupted; the record needs
 * no fact of it, as it follows from what was shown.
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
  readonly ending: AbortSignal;
  readonly error: unknown;
}

async function finish({ options, module, run, journal, document, ending, error }: Ended): Promise<RunReport> {
  const { reason } = options.signal;
  const stray: unknown = reason instanceof MlldError ? reason : undefined; // code failed that the script did not wait for
  const status = statusOf(error ?? stray, ending);
  const shown =
    status === 'timed-out'
      ? timedOut(options.timeoutMs)
      : status === 'paused' && run.paidCalls
        ? pausedError(run.paidCalls)
        : (stray ?? error);
  reportFailedCommands(run);
  await journal.finish(finished(status, shown, run, journal.totals())); // R2
  concealError(shown, run.secrets);
  for (const notice of journal.notices()) options.io.stderr(`${notice}\n`);
  return {
    status,
    ...(journal.ref ? { journal: journal.ref } : {}),
    ...(journal.unrecorded === 'unasked' && run.unrecordedResults > 0 ? { unrecordedResults: run.unrecordedResults } : {}),
    ...(shown === undefined ? {} : { error: shown }),
    ...(options.structured && shown === undefined ? { structured: structuredResult(module, run, document) } : {}),
  };
}

function statusOf(error: unknown, ending: AbortSignal): RunStatus {
  if (error === undefined) return 'completed';
  const interrupted = error instanceof MlldError && error.code === 'INTERRUPTED';
  return ending.aborted && (interrupted || !(error instanceof Bail)) ? (ending.reason as RunStatus) : 'failed';
}

function finished(status: RunStatus, error: unknown, { secrets }: RunState, totals: RunTotals): FactOf<'run.finished'> {
  if (error === undefined) return { type: 'run.finished', status, totals };
  if (status === 'paused') return { type: 'run.finished', status, totals, pause: pauseOf(error) };
  const { code, location } = error as MlldError;
  const message = secrets.messageOf(error);
  const where = location ? { location: placeOf(location) } : {};
  return { type: 'run.finished', status, error: { code, message, ...where }, totals };
}

/** The list at the end of a run: control.md 24.2. */
function reportFailedCommands({ failedCommands, warn }: RunState): void {
  for (const { command, exitCode, where } of failedCommands) warn(`command ended with status ${exitCode}: ${command} (${where})`);
}
