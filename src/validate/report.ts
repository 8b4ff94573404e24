/** The report of `mlld validate` about one file; `--json` prints this shape. world.md 19. */

export interface Finding {
  readonly message: string;
  /** Is one-based; absent where the finding is about the file as a whole. */
  readonly line?: number;
  readonly column?: number;
  /** Is the path, as messages show it, of a finding in another file than the validated one (`--deep`). */
  readonly file?: string;
  /** Identifies the rule. `validate.suppressWarnings` suppresses warnings, anti-patterns and redefinitions by it. */
  readonly code: string;
  /** Is the name, without `@`, of a finding about a variable. */
  readonly variable?: string;
  readonly hint?: string;
}

/** Lists are absent when they are empty. */
export interface FileReport {
  /** Is the path as the caller wrote it. */
  readonly filepath: string;
  readonly valid: boolean;
  readonly executables?: readonly { readonly name: string; readonly params: readonly string[]; readonly labels: readonly string[] }[];
  readonly exports?: readonly string[];
  readonly imports?: readonly { readonly from: string; readonly names: readonly string[] }[];
  readonly guards?: readonly { readonly name?: string; readonly timing: string; readonly filter: string }[];
  readonly errors?: readonly Finding[];
  /** Have messages that are about their `variable`: `undefined variable`. */
  readonly warnings?: readonly Finding[];
  /** Are declarations that replace a built-in name. */
  readonly redefinitions?: readonly Finding[];
  /** Are allowed but probably not intended. */
  readonly antiPatterns?: readonly Finding[];
  readonly template?: { readonly type: 'att' | 'mtt'; readonly variables: readonly string[]; readonly discoveredParams: readonly string[] };
}

/** Drops findings about other files that have a report of their own, so that the report of a folder holds each finding once. */
export function withoutRepeats(report: FileReport, reported: ReadonlySet<string>): FileReport {
  const { errors = [], warnings = [], antiPatterns = [], redefinitions = [], ...facts } = report;
  const own = (name: string, findings: readonly Finding[]) => {
    const kept = findings.filter(({ file }) => file === undefined || !reported.has(file));
    return kept.length > 0 && { [name]: kept };
  };
  const ownErrors = own('errors', errors);
  return {
    ...facts,
    valid: ownErrors === false,
    ...ownErrors,
    ...own('warnings', warnings),
    ...own('antiPatterns', antiPatterns),
    ...own('redefinitions', redefinitions),
  };
}
