/** Findings with their file. Lines and columns are computed only for the findings that are reported. */
import { locate } from '../../grammar/parse.js';
import type { Finding } from './report.js';
import type { ParsedScript, Rule, RuleSettings, Violation } from './rule.js';
import { rules } from './rules.js';

export interface LocatedFinding {
  readonly list: Rule['list'];
  readonly code: string;
  readonly file: { readonly display: string; readonly text: string };
  readonly violation: Violation;
}

export function applyRules(file: ParsedScript, settings: RuleSettings): readonly LocatedFinding[] {
  return rules.flatMap(({ list, code, check }) =>
    [...check(file, settings)].map((violation) => ({ list: violation.isUnsure === true ? 'antiPatterns' : list, code, file, violation })),
  );
}

/** Adds line and column, and the file unless it is `main`, which the report is about. */
export function toFinding({ code, file, violation }: LocatedFinding, main: string): Finding {
  const { at, isUnsure: _, ...rest } = violation;
  return { ...rest, ...locate(file.text, at), ...(file.display !== main && { file: file.display }), code };
}
