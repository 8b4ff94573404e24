/** `mlld journal audit RUN`: lists every call, command, file, decision and error of a run, and checks its record. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { RunRef } from '../../../src/api/ids.js';
import type { RunFile } from '../../../journal/store.js';
import { streamAudit, originOfFile, type AuditEntry, type AuditConclusion, type AuditFilter } from '../../../src/api/reports/audit.js';
import { MlldError } from '../../../src/errors.js';
import type { Project } from '../../../src/api/commands/project.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { EXIT_FAILED, EXIT_OK } from '../../exit-codes.js';
import { batchWrites, type Lines } from '../../terminal/batch-writes.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { formatOf, type Format } from '../../options/format.js';
import { CSV_HEAD, renderCsv } from '../../render/reports/audit-csv.js';
import { renderConclusion, renderEntry, renderOrigin } from '../../render/reports/audit.js';
import { reportStyle, type Style } from '../../render/style.js';

interface AuditOptions {
  readonly op?: string;
  readonly label?: string;
  readonly file?: string;
  readonly from?: string;
  readonly to?: string;
  readonly format?: Format;
  readonly json?: true;
  readonly csv?: true;
}

export async function audit(io: Io, run: string, options: AuditOptions): Promise<number> {
  const isSound = await (options.file === undefined ? auditWhole(io, run, options) : origin(io, run, options.file, options));
  return isSound ? EXIT_OK : EXIT_FAILED;
}

/** Resolves to false when the journal of the run is damaged. */
async function auditWhole(io: Io, text: string, options: AuditOptions): Promise<boolean> {
  const { op, label, from, to } = options;
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const filter: AuditFilter = { op, label, fromMs: timeOf('--from', from), toMs: timeOf('--to', to) };
  let seen = false;
  const { integrity } = await printAudit(io, file, options, (see) =>
    streamAudit(store, file, filter, (entry) => {
      seen = true;
      see(entry);
    }),
  );
  const isFiltered = [op, label, from, to].some((option) => option !== undefined);
  if (!seen && isFiltered) await (await import('./unmatched-filters.js')).reportUnmatchedFilters(io, store, file.ref, { op, label });
  return integrity.ok;
}

type Read = (see: (entry: AuditEntry) => void) => Promise<AuditConclusion>;

async function printAudit(io: Io, { ref }: RunFile, options: AuditOptions, read: Read): Promise<AuditConclusion> {
  const lines = batchWrites(io.stdout);
  const conclusion = await {
    csv: () => csvOf(lines, read),
    json: () => jsonOf(lines, ref, read),
    table: () => textOf(lines, reportStyle(io), read),
  }[formatOf(options)]();
  lines.end();
  return conclusion;
}

async function csvOf(lines: Lines, read: Read): Promise<AuditConclusion> {
  lines.add(CSV_HEAD);
  return read((entry) => lines.add(renderCsv(entry)));
}

/** Entry by entry: a long run has more of them than one text may hold. */
async function jsonOf(lines: Lines, { workflow, run }: RunRef, read: Read): Promise<AuditConclusion> {
  let separator = '\n';
  lines.add(`{"workflow":${JSON.stringify(workflow)},"run":"${run}","entries":[`);
  const conclusion = await read((entry) => {
    lines.add(`${separator}${JSON.stringify(entry)}`);
    separator = ',\n';
  });
  lines.add(
    `\n],"totals":${JSON.stringify(conclusion.totals)},\n"team":${JSON.stringify(conclusion.team)},\n"integrity":${JSON.stringify(conclusion.integrity)}}\n`,
  );
  return conclusion;
}

async function textOf(lines: Lines, style: Style, read: Read): Promise<AuditConclusion> {
  const conclusion = await read((entry) => lines.add(renderEntry(entry, style)));
  lines.add(renderConclusion(conclusion, style));
  return conclusion;
}

async function origin(io: Io, text: string, written: string, { op, label, from, to, ...options }: AuditOptions): Promise<boolean> {
  const format = formatOf(options);
  if (format === 'csv' || [op, label, from, to].some((option) => option !== undefined)) {
    throw new MlldError('USAGE', '--file can be combined only with --json', { hint: 'mlld journal audit RUN --file PATH' });
  }
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const absolute = path.resolve(io.workingDirectory, written);
  const report = await originOfFile(store, file, {
    isFile: (recorded) => isSame(project, recorded, absolute),
    content: await contentOf(absolute),
    onDefect: reportDefects(io),
  });
  io.stdout(
    format === 'json' ? `${JSON.stringify({ file: absolute, ...report }, undefined, 2)}\n` : renderOrigin(written, report, reportStyle(io)),
  );
  return true;
}

/** A path of the journal is absolute, or relative to the project; a long one is cut. */
function isSame({ root }: Project, recorded: string, absolute: string): boolean {
  const known = path.resolve(root, recorded);
  return known === absolute || (known.endsWith('…') && absolute.startsWith(known.slice(0, -1)));
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch {
    return undefined; // gone, or not ours to read: what was written can't be looked into either way
  }
}

function timeOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new MlldError('USAGE', `${flag} ${text}: not a time`, { hint: `${flag} 2026-11-21T08:45:00Z` });
  return ms;
}
