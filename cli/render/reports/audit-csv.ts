/** Renders `mlld journal audit --csv`: an entry a row. A column has the name of the member of `--json` that it holds. */
import type { AuditEntry } from '../../../src/api/reports/audit.js';
import { csvLine } from '../csv.js';

/** `subject` and `detail` hold what the kind of the entry makes of them: the function and its argument, the file and its error. */
const COLUMNS = [
  'seq',
  'ts',
  'entry',
  'op',
  'subject',
  'detail',
  'outcome',
  'fromRun',
  'fromSeq',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'durationMs',
  'exitCode',
  'hash',
  'labels',
] as const;

type Row = { readonly [C in (typeof COLUMNS)[number]]?: string | number | undefined };

export const CSV_HEAD = csvLine(COLUMNS);

export function renderCsv(entry: AuditEntry): string {
  const { seq, ts, entry: kind, op, labels } = entry;
  const row: Row = { seq, ts, entry: kind, op, ...cellsOf(entry), labels: labels?.join(' ') };
  return csvLine(COLUMNS.map((column) => row[column]));
}

function cellsOf(entry: AuditEntry): Row {
  switch (entry.entry) {
    case 'call': {
      const { fn, preview, outcome, from, usage, durationMs } = entry;
      const { inputTokens, outputTokens, costUsd } = usage ?? {};
      return {
        subject: fn,
        detail: preview,
        outcome,
        fromRun: from?.run,
        fromSeq: from?.seq,
        inputTokens,
        outputTokens,
        costUsd,
        durationMs,
      };
    }
    case 'command':
      return { subject: entry.command, detail: entry.error, durationMs: entry.durationMs, exitCode: entry.exitCode };
    case 'file':
      return { subject: entry.path, detail: entry.error, outcome: entry.did, hash: entry.hash };
    case 'guard':
      return { subject: entry.guard, detail: entry.reason, outcome: entry.decision };
    case 'hook':
      return { subject: entry.hook, detail: entry.error, outcome: 'failed', durationMs: entry.durationMs };
  }
}
