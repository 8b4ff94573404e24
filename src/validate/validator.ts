/** Validates files without running anything: `mlld validate`. world.md 19. */
import { linkImports } from './linking/link-imports.js';
import { describeScript } from './describe-script.js';
import { applyRules, toFinding, type LocatedFinding } from './located-finding.js';
import type { FileReport, Finding } from './report.js';
import type { Rule } from './rule.js';
import { checkLoads } from './loads-beside.js';
import { checkNeeds } from './needs/check-needs.js';
import { checkNeedsOfImports } from './needs/needs-of-imports.js';
import { readFrontmatter } from './needs/frontmatter.js';
import { freeNames, unknownInTemplate, type TemplateUse } from './linking/template-names.js';
import { payloadNames } from './payload-names.js';
import { openWorkspace, type Broken, type Workspace } from './linking/workspace.js';
import { templateUsesIn } from './linking/template-uses.js';

export type ValidatorSettings = Pick<
  Workspace,
  'files' | 'display' | 'projectRoot' | 'prefixes' | 'modes' | 'searchPath' | 'modulesFolder' | 'injected' | 'sources'
> & {
  /** Makes `deep` follow imports and templates, and report findings there too. */
  readonly depth: 'file' | 'deep';
  /** Lists the codes of warnings, anti-patterns and redefinitions to leave out. */
  readonly suppressed: readonly string[];
};

/** Validates files of one project. A file that several of them import is read once. */
export interface Validator {
  /** Resolves to undefined for a file that is missing or of another kind. The report names the file `filepath`. */
  validate(absolute: string, filepath: string): Promise<FileReport | undefined>;
  /** Returns the names that all files validated so far, and their imports, read from `@payload`. */
  payloadNames(): Promise<ReadonlySet<string>>;
}

type Validation = (absolute: string, filepath: string, context: Context) => Promise<FileReport | undefined>;

interface Context {
  readonly workspace: Workspace;
  readonly settings: ValidatorSettings;
  readonly templateUses: (template: string) => Promise<readonly TemplateUse[]>;
}

/** Maps the ending of a file's name to its validation. A new kind of source is a row here. */
const validations: readonly (readonly [ending: RegExp, validation: Validation])[] = [
  [/\.(mld|mlld|md)$/i, validateScript],
  [/\.(att|mtt)$/i, validateTemplate],
];

/** Is reported for a file that exists but can't be read. */
const UNREADABLE: Finding = {
  code: 'unreadable',
  message: "the file can't be read",
  hint: 'it is larger than 64 MiB, or access to it is denied',
};

export function createValidator(settings: ValidatorSettings): Validator {
  const workspace = openWorkspace(settings);
  const context: Context = { workspace, settings, templateUses: templateUsesIn(workspace) };
  return {
    async validate(absolute, filepath) {
      const validation = validationFor(absolute);
      const report = await validation?.(absolute, filepath, context);
      if (!validation || report || (await settings.files.kindOf(absolute)) !== 'file') return report;
      return { filepath, valid: false, errors: [UNREADABLE] };
    },
    async payloadNames() {
      const files = await workspace.parsed();
      return new Set(files.flatMap((file) => [...payloadNames('script' in file ? file.script : file.template)]));
    },
  };
}

export function canValidate(name: string): boolean {
  return validationFor(name) !== undefined;
}

function validationFor(name: string): Validation | undefined {
  return validations.find(([ending]) => ending.test(name))?.[1];
}

async function validateScript(absolute: string, filepath: string, { workspace, settings }: Context): Promise<FileReport | undefined> {
  const opened = await workspace.script(absolute);
  if (opened.kind === 'missing') return undefined;
  if (opened.kind === 'broken') return reportFor(filepath, {}, brokenBy(opened.file), opened.file.display, settings);
  const { file } = opened;
  const linked = settings.depth === 'deep' ? await linkImports(file, workspace) : [];
  const needs = [...(await checkNeeds(file, workspace)), ...(await checkNeedsOfImports(file, workspace))];
  const loads = await checkLoads(file, workspace);
  const { facts } = await readFrontmatter(file.script, file.text);
  return reportFor(
    filepath,
    describeScript(file.script, facts),
    [...applyRules(file, settings), ...linked, ...needs, ...loads],
    file.display,
    settings,
  );
}

async function validateTemplate(absolute: string, filepath: string, context: Context): Promise<FileReport | undefined> {
  const { workspace, settings, templateUses } = context;
  const opened = await workspace.template(absolute);
  if (opened.kind === 'missing') return undefined;
  const type = absolute.toLowerCase().endsWith('.mtt') ? 'mtt' : 'att';
  if (opened.kind === 'broken') return reportFor(filepath, {}, brokenBy(opened.file), opened.file.display, settings);
  const { file } = opened;
  const uses = await templateUses(absolute);
  const found = unknownInTemplate(file, uses).map((violation): LocatedFinding => ({
    list: 'warnings',
    code: 'template-parameter',
    file,
    violation,
  }));
  const template = {
    type,
    variables: [...new Set(freeNames(file).map(({ name }) => name))],
    discoveredParams: [...new Set(uses.flatMap(({ params }) => params))],
  } as const;
  return reportFor(filepath, { template }, found, file.display, settings);
}

function brokenBy(file: Broken): readonly LocatedFinding[] {
  return file.failures.map(({ at, message, hint }) => ({
    list: 'errors',
    code: 'syntax',
    file,
    violation: { at, message, ...(hint !== undefined && { hint }) },
  }));
}

/** Sorts the findings of the file itself first, in source order. Errors can't be suppressed. */
function reportFor(
  filepath: string,
  facts: Partial<FileReport>,
  found: readonly LocatedFinding[],
  display: string,
  { suppressed }: ValidatorSettings,
): FileReport {
  const reported = found
    .filter(({ list, code }) => list === 'errors' || !suppressed.includes(code))
    .toSorted(
      (a, b) => rank(a, display) - rank(b, display) || a.file.display.localeCompare(b.file.display) || a.violation.at - b.violation.at,
    );
  const ofList = (list: Rule['list']) => {
    const findings = reported.filter((finding) => finding.list === list).map((finding) => toFinding(finding, display));
    return findings.length > 0 && { [list]: findings };
  };
  const valid = reported.every(({ list }) => list !== 'errors');
  return { filepath, valid, ...facts, ...ofList('errors'), ...ofList('warnings'), ...ofList('antiPatterns'), ...ofList('redefinitions') };
}

function rank({ file }: LocatedFinding, display: string): 0 | 1 {
  return file.display === display ? 0 : 1;
}
