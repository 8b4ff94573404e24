/** What `mlld validate` says about a pipeline, and `mlld run` before it begins. The JSON form is this shape. graph-pipelines.md 13.1. */
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
  /** One-based, like the column. */
  readonly line: number;
  readonly column: number;
  readonly fix?: string;
}

export interface PipelineDiagnostics {
  /** As it was asked for. */
  readonly file: string;
  /** Nothing in it is an error. */
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

export interface DiagnoseOptions extends LintOptions {
  readonly transforms?: readonly Transform[];
}

/** `graph` is what to run, absent when the text is no pipeline or has errors. Never throws for what is in the text. */
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
