/**
 * Diagnoses a pipeline for `mlld validate`, and for `mlld run` before it starts. `PipelineDiagnostics` is the JSON of --json.
 * graph-pipelines.md 13.1.
 */
import { SyntaxFailure } from '../../../grammar/errors.js';
import { locate } from '../../../grammar/parse.js';
import { lintPipeline, type LintOptions } from './lint.js';
import type { Finding, Severity } from './rule.js';
import type { Graph } from '../model/graph.js';
import { preparePipeline, type Transform } from '../model/prepare.js';

export interface Diagnostic {
  /** A lint rule, or the code of a syntax error. */
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly node?: string;
  readonly edge?: readonly [from: string, to: string];
  /** Counted from 1, like the column. */
  readonly line: number;
  readonly column: number;
  readonly fix?: string;
}

export interface PipelineDiagnostics {
  /** The path that the caller named. */
  readonly file: string;
  /** True when no diagnostic is an error. */
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export interface DiagnoseOptions extends LintOptions {
  readonly transforms?: readonly Transform[];
}

/** Returns the graph to run, unless the text does not parse or lint finds errors. Never throws because of the text. */
export function diagnosePipeline(
  { file, text }: { readonly file: string; readonly text: string },
  { transforms = [], ...options }: DiagnoseOptions = {},
): { readonly report: PipelineDiagnostics; readonly graph?: Graph } {
  let graph: Graph;
  try {
    graph = preparePipeline(text, transforms);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    const { code, message, hint, at } = error;
    const diagnostic: Diagnostic = {
      rule: code,
      severity: 'error',
      message,
      ...locate(text, at),
      ...(hint !== undefined && { fix: hint }),
    };
    return { report: { file, ok: false, diagnostics: [diagnostic] } };
  }
  const diagnostics = lintPipeline(graph, options).map((finding) => located(finding, text));
  const ok = diagnostics.every(({ severity }) => severity !== 'error');
  return { report: { file, ok, diagnostics }, ...(ok && { graph }) };
}

function located({ at, fix, ...finding }: Finding, text: string): Diagnostic {
  return { ...finding, ...locate(text, at), ...(fix !== undefined && { fix }) };
}
