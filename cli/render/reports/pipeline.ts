/** What is said of a pipeline: findings, for `mlld validate` and before a run, and the progress of a run. */
import type { JournalEvent } from '../../../journal/event.js';
import { describeEvent } from '../../../replay/reports/summary/describe.js';
import type { Diagnostic, PipelineDiagnostics } from '../../../src/pipeline/lint/diagnostics.js';
import type { Paint } from '../paint.js';

/** `FILE: ok` when there is nothing to say. */
export function renderPipelineReport(report: PipelineDiagnostics, paint: Paint): string {
  return report.diagnostics.length === 0 ? `${report.file}: ${paint.green('ok')}\n` : renderDiagnostics(report, paint);
}

/** `FILE:LINE:COLUMN: severity[rule] message`, each with its fix below it. Nothing when there is nothing to say. */
export function renderDiagnostics({ file, diagnostics }: PipelineDiagnostics, paint: Paint): string {
  const colours = { error: paint.red, warning: paint.yellow, info: paint.dim };
  return diagnostics
    .flatMap(({ rule, severity, message, line, column, fix }: Diagnostic) => [
      `${file}:${line}:${column}: ${colours[severity](severity)}[${rule}] ${message}`,
      ...(fix === undefined ? [] : [paint.dim(`  fix: ${fix}`)]),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

const SHOWN: ReadonlySet<string> = new Set(['node.finished', 'retry.scheduled', 'question.answered'] satisfies JournalEvent['type'][]);

/** A line for standard error, or nothing. */
export function renderProgressOf(event: JournalEvent): string {
  return SHOWN.has(event.type) ? `${describeEvent(event)}\n` : '';
}

/** The last line of a run that came to its end, for standard output. */
export function renderCompleted(pipeline: string): string {
  return `${pipeline}: completed\n`;
}
