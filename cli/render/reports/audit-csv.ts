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
  'try',
  'outcome',
  'class',
  'retryInMs',
  'lane',
  'fromRun',
  'fromSeq',
  'savedUsd',
  'model',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'costSource',
  'durationMs',
  'exitCode',
  'hash',
  'labels',
  'worker',
  'workerHost',
  'workerUsd',
] as const;

type Row = { readonly [C in (typeof COLUMNS)[number]]?: string | number | null | undefined };

export const CSV_HEAD = csvLine(COLUMNS);

export function renderCsv(entry: AuditEntry): string {
  const { seq, ts, entry: kind, op, labels } = entry;
  const row: Row = { seq, ts, entry: kind, op, ...cellsOf(entry), labels: labels?.join(' ') };
  return csvLine(COLUMNS.map((column) => row[column] ?? undefined));
}

function cellsOf(entry: AuditEntry): Row {
  switch (entry.entry) {
    case 'call': {
      const { fn, preview, try: tried, outcome, class: cause, retryInMs, lane, from, savedUsd, durationMs } = entry;
      const { model, inputTokens, outputTokens, costUsd, costSource, worker, workerHost, workerUsd } = entry;
      return {
        subject: fn,
        detail: preview,
        try: tried,
        outcome,
        class: cause,
        retryInMs,
        lane,
        fromRun: from?.run,
        fromSeq: from?.seq,
        savedUsd,
        model,
        inputTokens,
        outputTokens,
        costUsd,
        costSource,
        durationMs,
        worker,
        workerHost,
        workerUsd,
      };
    }
    case 'superseded':
      return { subject: entry.fn, outcome: 'superseded', fromRun: entry.by.run, fromSeq: entry.by.seq };
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
