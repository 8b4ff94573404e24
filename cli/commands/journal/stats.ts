/** `mlld journal stats [SCRIPT]`: prints hit rate, cost, durations and failures over many runs. */
import { statsOf } from '../../../src/api/reports/stats.js';
import { MlldError } from '../../../src/errors.js';
import { recordedScript } from '../../../src/api/recorded-runs.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { reportStyle } from '../../render/style.js';
import { formatOf, type Format } from '../../options/format.js';
import { functionsCsv, renderStats } from '../../render/reports/stats.js';

interface StatsOptions {
  readonly last: string;
  readonly format?: Format;
  readonly json?: true;
}

export async function stats(io: Io, script: string | undefined, { last, ...options }: StatsOptions): Promise<void> {
  if (!/^[1-9]\d{0,5}$/.test(last)) throw new MlldError('USAGE', `--last ${last}: not a number of runs`, { hint: '--last 20' });
  const format = formatOf(options);
  const { project, store } = await openProject(io);
  const workflow = script === undefined ? undefined : await recordedScript(store, project, script);
  const report = await statsOf(store, { workflow, last: Number(last), onDefect: reportDefects(io) });
  if (format === 'json') io.stdout(`${JSON.stringify(report, undefined, 2)}\n`);
  else io.stdout(format === 'csv' ? functionsCsv(report) : renderStats(report, reportStyle(io)));
}
