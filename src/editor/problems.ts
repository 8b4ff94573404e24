/** The problems of an open file: what `mlld validate` finds in its text, which may not be saved yet. world.md 19. */
import { withPlainLineEnds } from '../../grammar/line-ends.js';
import { diagnosePipeline } from '../pipeline/lint/diagnostics.js';
import type { FileReport, Finding } from '../validate/report.js';
import { canValidate } from '../validate/validator.js';
import { checkWorkflow } from '../workflows/check-workflow.js';
import { offsetAt, rangeOfWord, type Range } from './positions.js';
import type { ProjectView } from './project-view.js';

export interface Problem {
  readonly range: Range;
  readonly severity: 'error' | 'warning' | 'note';
  readonly code: string;
  /** Has the hint in a line of its own. */
  readonly message: string;
}

/** Maps absolute paths to problems: a file may have some because another one imports it. */
export type ProblemsByFile = ReadonlyMap<string, readonly Problem[]>;

type Located = Pick<Finding, 'message' | 'line' | 'column' | 'file' | 'code' | 'variable' | 'hint'>;

/** Other JavaScript files are not ours, wherever they are. */
const WORKFLOW_SCRIPT = /\bexport\s+const\s+meta\b/;

/** Returns the problems that the file at `absolute` has or causes. A file of another kind has none. */
export async function problemsOf(absolute: string, text: string, view: ProjectView): Promise<ProblemsByFile> {
  const display = view.workspace.display(absolute);
  if (/\.dot$/i.test(absolute)) return pipelineProblems(absolute, withPlainLineEnds(text), display);
  if (/\.m?js$/i.test(absolute))
    return WORKFLOW_SCRIPT.test(text) ? collected(await checkWorkflow(display, { text, display }), absolute, view) : new Map();
  const report = canValidate(absolute) ? await view.validator.validate(absolute, display) : undefined;
  return report ? collected(report, absolute, view) : new Map();
}

function pipelineProblems(absolute: string, text: string, display: string): ProblemsByFile {
  const { diagnostics } = diagnosePipeline({ file: display, text }).report;
  const problems = diagnostics.map(({ rule, severity, message, line, column, fix }) =>
    problem({ code: rule, message, line, column, ...(fix !== undefined && { hint: fix }) }, severity === 'info' ? 'note' : severity, text),
  );
  return new Map([[absolute, problems]]);
}

async function collected(
  {
    errors = [],
    warnings = [],
    antiPatterns = [],
    redefinitions = [],
  }: Pick<FileReport, 'errors' | 'warnings' | 'antiPatterns' | 'redefinitions'>,
  absolute: string,
  { absoluteOf, workspace }: ProjectView,
): Promise<ProblemsByFile> {
  const found = new Map<string, Problem[]>();
  const lists = [
    ['error', errors],
    ['warning', [...warnings, ...antiPatterns]],
    ['note', redefinitions],
  ] as const;
  for (const [severity, findings] of lists) {
    for (const finding of findings) {
      const file = (finding.file === undefined ? undefined : absoluteOf(finding.file)) ?? absolute;
      const text = withPlainLineEnds((await workspace.files.readText(file)) ?? '');
      const problems = found.get(file) ?? [];
      found.set(file, problems);
      problems.push(problem(finding, severity, text));
    }
  }
  return found;
}

function problem({ message, hint, variable, code, line, column }: Located, severity: Problem['severity'], text: string): Problem {
  const subject = variable === undefined ? '' : `@${variable}: `;
  const start = line === undefined ? 0 : offsetAt(text, { line: line - 1, character: (column ?? 1) - 1 });
  return { range: rangeOfWord(text, start), severity, code, message: `${subject}${message}${hint === undefined ? '' : `\n${hint}`}` };
}

/** Joins the problems that all open files have or cause; a file and its importers find some of them twice. */
export function joinedProblems(all: Iterable<ProblemsByFile>): ProblemsByFile {
  const joined = new Map<string, Map<string, Problem>>();
  for (const byFile of all) {
    for (const [file, problems] of byFile) {
      const known = joined.get(file) ?? new Map<string, Problem>();
      joined.set(file, known);
      for (const each of problems) {
        const key = JSON.stringify([each.range, each.message]);
        // An importer finds an error where the file by itself has a warning.
        if (known.get(key)?.severity !== 'error') known.set(key, each);
      }
    }
  }
  return new Map([...joined].map(([file, problems]) => [file, [...problems.values()]]));
}
