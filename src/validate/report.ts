/** What `mlld validate` finds out about a file without running it. world.md 19; the JSON form is this shape. */

export interface Finding {
  readonly message: string;
  /** One-based; absent where the finding is about the file as a whole. */
  readonly line?: number;
  readonly column?: number;
  /** In another file than the one that is validated (`--deep`): its path, as messages show it. */
  readonly file?: string;
  /** The rule. Warnings and notes of a code can be suppressed by `validate.suppressWarnings`. */
  readonly code: string;
  /** Without `@`, where the finding is about one. */
  readonly variable?: string;
  readonly hint?: string;
}

/** Lists are absent when they are empty. */
export interface FileReport {
  /** As it was asked for. */
  readonly filepath: string;
  readonly valid: boolean;
  readonly executables?: readonly { readonly name: string; readonly params: readonly string[]; readonly labels: readonly string[] }[];
  readonly exports?: readonly string[];
  readonly imports?: readonly { readonly from: string; readonly names: readonly string[] }[];
  readonly guards?: readonly { readonly name?: string; readonly timing: string; readonly filter: string }[];
  readonly errors?: readonly Finding[];
  /** `message` says what is wrong with `variable`: `undefined variable`. */
  readonly warnings?: readonly Finding[];
  /** Built-in names that are given another meaning. */
  readonly redefinitions?: readonly Finding[];
  /** Style that leads to surprises; each has a code. */
  readonly antiPatterns?: readonly Finding[];
  readonly template?: { readonly type: 'att' | 'mtt'; readonly variables: readonly string[]; readonly discoveredParams: readonly string[] };
}

/** Without what is said about other files that have a report of their own: in a folder everything is said once. */
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
