/** `mlld worker` and `mlld worker status`. team-store.md 7 and 14. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { runWorker, workerStatus, type WorkersReport } from '../../../src/api/commands/store.js';
import { MlldError } from '../../../src/errors.js';
import { EXIT_FAILED, EXIT_OK, EXIT_PAUSED, EXIT_TAKEN } from '../../exit-codes.js';
import { oneLine } from '../../render/one-line.js';
import { counted } from '../../render/reports/garbage-collection.js';
import { styleFor } from '../../render/style.js';
import { figures, table } from '../../render/table.js';
import { listenForInterruption } from '../../terminal/interruption.js';
import type { Io } from '../../terminal/io.js';
import { projectOf } from '../open-project.js';
import { renderBudgets, warnOfDamaged } from './budget.js';

interface WorkerFlags {
  readonly lanes?: number;
  readonly lane?: { readonly [lane: string]: number };
  readonly root?: string;
  readonly name?: string;
  readonly once?: true;
  readonly json?: true;
}

const LANES = 4;
const COLUMNS = ['worker', 'version', 'slots', 'script', 'for run'].map((title) => ({ title }));

export async function worker(io: Io, { lanes, lane, root, name, once, json }: WorkerFlags): Promise<number> {
  const project = await projectOf(io);
  const interruption = listenForInterruption(io);
  const general = lanes ?? (lane === undefined ? LANES : 0);
  const slots = { ...(general > 0 && { '': general }), ...lane };
  if (Object.keys(slots).length === 0) throw new MlldError('USAGE', 'mlld worker --lanes 0 could execute nothing', { hint: '--lanes 8' });
  const folder = root === undefined ? undefined : existingFolder(path.resolve(io.workingDirectory, root), root);
  try {
    const report = await runWorker({
      project,
      environment: io.environment,
      io: { stdin: async () => undefined, stdout: () => undefined, stderr: io.stderr, nowMs: io.todayMs, monotonicMs: io.nowMs },
      slots,
      root: folder,
      name,
      once: once === true,
      leaving: interruption.signal,
      ...(!json && { onReady: () => io.stderr(`waiting for calls to execute: ${describeSlots(slots)}\n`) }),
    });
    const { executed, failed, error } = report;
    if (json) io.stdout(`${JSON.stringify({ name: report.name, executed, failed, error: error?.message ?? null }, undefined, 2)}\n`);
    else io.stderr(`executed ${counted(executed, 'call')}${failed === 0 ? '' : `, ${failed} failed`}\n`);
    if (error === undefined) return EXIT_OK;
    const hint = 'hint' in error && typeof error.hint === 'string' ? `  hint: ${oneLine(error.hint)}\n` : '';
    io.stderr(`error: ${oneLine(error.message)}\n${hint}`);
    return exitStatusOf(error);
  } finally {
    interruption.stop();
  }
}

/** Throws USAGE: in a folder that is not there, each call that the worker takes over would fail in the run that offers it. */
function existingFolder(absolute: string, written: string): string {
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return absolute;
  throw new MlldError('USAGE', `mlld worker --root ${written}: there is no such folder`, {
    hint: 'it has the files that the calls read; without --root each call is executed in an empty folder',
  });
}

function exitStatusOf(error: Error): number {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'STORE_SEALED' || code === 'STORE_WENT_BACK') return EXIT_TAKEN;
  return code === 'STORE_SPILLED' || code === 'STORE_UNREACHABLE' ? EXIT_PAUSED : EXIT_FAILED;
}

export async function status(io: Io, { json }: { readonly json?: true }): Promise<void> {
  const report = await workerStatus({ project: await projectOf(io), environment: io.environment, stderr: io.stderr });
  if (report === undefined) {
    throw new MlldError('WORKERS', 'mlld worker status: the runs of this project are kept in files, where nothing is offered', {
      hint: "MLLD_STORE='postgres://ada@db.example/mlld?project=acme/patrol' names the store of a team (docs/team.md)",
    });
  }
  if (json) return io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  io.stdout(textOf(io, report));
  warnOfDamaged(io, report.damaged);
}

function textOf(io: Io, { workers, idle, offers, budgets }: WorkersReport): string {
  const style = styleFor(io.colours.stdout);
  const atWork = workers.map((each) => [
    oneLine(each.name),
    oneLine(each.version),
    slotsOf(each),
    oneLine(each.workflow),
    oneLine(each.for),
    String(each.executed),
    String(each.failed),
    String(each.superseded),
    `${each.heardS} s ago`,
  ]);
  const waiting = idle.map((each) => {
    const about = [oneLine(each.name), oneLine(each.version), slotsOf({ held: 0, slots: each.slots }), 'idle'];
    return [...about, '', '', '', '', `${each.heardS} s ago`];
  });
  const rows = [...atWork, ...waiting];
  return [
    ...(rows.length === 0
      ? ['No worker is there for this project: mlld worker --lanes 8 starts one.']
      : table([...COLUMNS, ...figures('executed', 'failed', 'superseded', 'heard')], rows, style)),
    offers.waiting === 0 ? 'No call waits for a worker.' : waitingLine(offers),
    ...offers.lanes.filter(({ lane }) => lane !== '').map(({ lane, ...waiting }) => `lane ${oneLine(lane)}: ${waitingLine(waiting)}`),
    ...(budgets.length === 0 ? [] : ['', ...renderBudgets(budgets, style)]),
    '',
  ].join('\n');
}

/** `12 calls wait for a worker, the oldest for 4.2 s` */
export function waitingLine({ waiting, oldestS }: { readonly waiting: number; readonly oldestS: number | null }): string {
  return `${waiting === 1 ? '1 call waits' : `${waiting} calls wait`} for a worker${oldestS === null ? '' : `, the oldest for ${oldestS} s`}`;
}

/** Calls that are claimed ahead are told behind those that have a slot. */
export function slotsOf({ held, slots }: Pick<WorkersReport['workers'][number], 'held' | 'slots'>): string {
  const all = Object.values(slots).reduce((sum, count) => sum + count, 0);
  return `${Math.min(held, all)}/${all}${held > all ? ` +${held - all}` : ''}`;
}

function describeSlots(slots: { readonly [lane: string]: number }): string {
  return Object.entries(slots)
    .map(([lane, count]) => (lane === '' ? `${counted(count, 'call')} at a time` : `${count} of the lane ${oneLine(lane)}`))
    .join(', ');
}
