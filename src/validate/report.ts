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
  /** Is the line of code in a body, with the one before it and a caret below. */
  readonly excerpt?: string;
}

/** Lists are absent when they are empty. */
export interface FileReport {
  /** Is the path as the caller wrote it. */
  readonly filepath: string;
  readonly valid: boolean;
  /** Is what the frontmatter says about it as a module. */
  readonly module?: { readonly name?: string; readonly version?: string; readonly about?: string };
  readonly executables?: readonly { readonly name: string; readonly params: readonly string[]; readonly labels: readonly string[] }[];
  readonly exports?: readonly string[];
  readonly imports?: readonly { readonly from: string; readonly names: readonly string[] }[];
  readonly guards?: readonly { readonly name?: string; readonly timing: string; readonly filter: string }[];
  /** Lists what `needs { … }` and `needs` of the frontmatter name, without versions. */
  readonly needs?: readonly { readonly kind: 'program' | 'node-package' | 'unchecked' | 'unknown'; readonly name: string }[];
  readonly errors?: readonly Finding[];
  /** Have messages that are about their `variable`: `undefined variable`. */
  readonly warnings?: readonly Finding[];
  /** Are declarations that replace a built-in name. */
  readonly redefinitions?: readonly Finding[];
  /** Are allowed but probably not intended. */
  readonly antiPatterns?: readonly Finding[];
  readonly template?: { readonly type: 'att' | 'mtt'; readonly variables: readonly string[]; readonly discoveredParams: readonly string[] };
}

type FindingList = (typeof FINDING_LISTS)[number];

const FINDING_LISTS = ['errors', 'warnings', 'antiPatterns', 'redefinitions'] as const satisfies readonly (keyof FileReport)[];

/**
 * Drops findings about other files that another report has, so that the reports of a folder hold each finding once. What only the
 * importer knows, such as the parameters of a collection of templates, stays in the report of the first importer.
 */
export function withoutRepeats(reports: readonly FileReport[]): readonly FileReport[] {
  const key = (list: FindingList, file: string, { line, column, message }: Finding): string =>
    [list, file, line, column, message].join('\0');
  const seen = new Set<string>();
  for (const report of reports) {
    for (const list of FINDING_LISTS) {
      for (const finding of report[list] ?? []) if (finding.file === undefined) seen.add(key(list, report.filepath, finding));
    }
  }
  const isNew = (list: FindingList, finding: Finding): boolean => {
    if (finding.file === undefined) return true;
    const found = key(list, finding.file, finding);
    const isKnown = seen.has(found);
    seen.add(found);
    return !isKnown;
  };
  return reports.map(({ errors, warnings, antiPatterns, redefinitions, ...facts }) => {
    const all = { errors, warnings, antiPatterns, redefinitions };
    const kept = FINDING_LISTS.map((list) => [list, all[list]?.filter((finding) => isNew(list, finding)) ?? []] as const);
    const present = Object.fromEntries(kept.filter(([, findings]) => findings.length > 0));
    return { ...facts, valid: !('errors' in present), ...present };
  });
}
