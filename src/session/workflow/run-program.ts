/**
 * Runs a program of the library: its body, with the record of its work. workflows-js.md 15.
 *
 * RUN-PROGRAM-1  Misuse throws, before anything is recorded; what the body throws is in the report.
 */
import path from 'node:path';
import type { Json } from '../../../journal/event.js';
import type { RunTotals } from '../../../journal/facts/run-event.js';
import { messageOf, MlldError } from '../../errors.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import type { Context } from '../../workflows/program/context.js';
import { openProgram } from '../../workflows/program/create-context.js';
import { jsonOf } from '../../workflows/program/json.js';
import { Branch } from '../../workflows/run/branch.js';
import { stopped } from '../../workflows/run/until-aborted.js';
import { superviseRun } from '../run-lifecycle.js';
import { recordPath } from '../ports/recording.js';
import type { Supervised } from '../open-run.js';
import type { RunOptions, RunReport } from '../script/run-options.js';
import { installedBackend, finishWork, openWork, prepareWork, type AgentSettings, type Work } from './recorded-work.js';

export interface ProgramBody {
  readonly input: Json;
  readonly run: (context: Context) => Promise<unknown>;
  /** Goes into the fingerprint of every call. */
  readonly version: string | undefined;
}

export interface ProgramReport extends Omit<RunReport, 'error'> {
  /** The error that the body threw, or that stopped the run. */
  readonly error?: Error;
  /** The value that the body returned; absent when it returned nothing. */
  readonly result?: Json;
  /** Counts the calls of the run. */
  readonly totals: RunTotals;
}

/** Throws what is wrong with the options (RUN-PROGRAM-1). */
export async function runProgram(given: RunOptions, settings: AgentSettings, body: ProgramBody): Promise<ProgramReport> {
  let misuse: unknown;
  const options = { ...given, io: { ...given.io, stderr: given.io.message ?? given.io.stderr } };
  const report = await superviseRun<ProgramReport>(options, {
    onStop: 'close-world',
    work: async (world, signal, pause) => {
      const supervised = { world, signal, pause };
      const opened = await open(options, settings, body.input, supervised).catch((error: unknown) => {
        misuse = signal.aborted ? undefined : error;
        throw error;
      });
      return runOpened(opened, body, signal, settings);
    },
  });
  if (misuse !== undefined) throw misuse;
  return 'totals' in report ? report : { ...report, totals: NO_CALLS };
}

const NO_CALLS: RunTotals = { executed: 0, reused: 0, failed: 0 };

async function open(given: RunOptions, settings: AgentSettings, input: Json, supervised: Supervised): Promise<Work> {
  if (settings.backend !== undefined) installedBackend(given, settings.backend);
  const file = recordPath(given.script);
  const module = { path: file, display: given.name, directory: path.dirname(file), text: '', isMain: true };
  return openWork({ options: given, module, settings, input, phases: undefined }, supervised);
}

async function runOpened(work: Work, { run, version }: ProgramBody, signal: AbortSignal, settings: AgentSettings): Promise<ProgramReport> {
  const { options, frame, start, parallel, journal } = work;
  const ports = {
    ...work.ports,
    get backend() {
      return installedBackend(options, settings.backend);
    },
    nowMs: options.io.nowMs,
    seed: start.seed,
    version,
    definitions: new Map(),
    parallel,
  };
  const program = openProgram(ports, new Branch(frame, { phase: undefined, clockMs: start.clock }));
  let result: Json | undefined;
  let thrown: { readonly error: unknown } | undefined;
  try {
    await prepareWork(work);
    const returned = await program.run(() => run(program.context));
    if (returned !== undefined) result = jsonOf(returned, 'the result of the program');
  } catch (error) {
    thrown = { error };
  }
  const report = await finishWork(work, signal, thrown && recordable(thrown.error, signal));
  return withoutUndefined<ProgramReport>({
    ...report,
    ...(report.status === 'failed' && thrown?.error instanceof Error && { error: thrown.error }),
    result,
    totals: journal.totals(),
  });
}

/** The journal takes errors with a code; the caller gets an error as it was thrown. */
export function recordable(error: unknown, signal: AbortSignal): MlldError {
  if (signal.aborted) return stopped();
  if (error instanceof MlldError) return error;
  return new MlldError('WORKFLOW_FAILED', messageOf(error), { cause: error });
}
