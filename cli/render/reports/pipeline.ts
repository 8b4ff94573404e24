/** Renders the findings about a pipeline, for `mlld validate` and before a run, and the progress of a run. */
import type { JournalEvent } from '../../../journal/event.js';
import { describeEvent } from '../../../src/api/reports/events.js';
import type { Diagnostic, PipelineDiagnostics } from '../../../src/api/commands/lint.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';

/** `FILE: ok` when there is nothing to say. */
export function renderPipelineReport(report: PipelineDiagnostics, style: Style): string {
  return report.diagnostics.length === 0 ? `${report.file}: ${style.green('ok')}\n` : renderDiagnostics(report, style);
}

/** `FILE:LINE:COLUMN: severity[rule] message`, each with its fix below it. Nothing when there is nothing to say. */
export function renderDiagnostics({ file, diagnostics }: PipelineDiagnostics, style: Style): string {
  const colours = { error: style.red, warning: style.yellow, info: style.dim };
  return diagnostics
    .flatMap(({ rule, severity, message, line, column, fix }: Diagnostic) => [
      `${file}:${line}:${column}: ${colours[severity](severity)}[${rule}] ${oneLine(message)}`,
      ...(fix === undefined ? [] : [style.dim(`  fix: ${oneLine(fix)}`)]),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

const SHOWN: ReadonlySet<string> = new Set(['node.finished', 'retry.scheduled', 'question.answered'] satisfies JournalEvent['type'][]);

/** Returns a line for standard error, or an empty text. */
export function renderProgressOf(event: JournalEvent): string {
  return SHOWN.has(event.type) ? `${oneLine(describeEvent(event))}\n` : '';
}

/** Returns the last line of a completed run, for standard output. */
export function renderCompleted(pipeline: string): string {
  return `${pipeline}: completed\n`;
}
