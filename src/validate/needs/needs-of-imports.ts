/** Warns of what the published modules that a file imports need and that is missing, at the import. world.md 11.6. */
import path from 'node:path';
import type { Import } from '../../../grammar/ast.js';
import { namedModule } from '../linking/import-target.js';
import type { Workspace } from '../linking/workspace.js';
import { modulesFolderOf } from '../../modules/published/find-published.js';
import type { LocatedFinding } from '../located-finding.js';
import type { ParsedScript } from '../rule.js';
import { topLevel } from '../top-level.js';
import { MISSING_NEED, checkNeeds, missingNeeds } from './check-needs.js';

/** Returns the findings about a file that another one imports. What a published module needs is a finding of the file that imports it. */
export async function checkNeedsOfModule(file: ParsedScript, workspace: Workspace): Promise<readonly LocatedFinding[]> {
  const own = await checkNeeds(file, workspace);
  const { projectRoot, modulesFolder } = workspace;
  const published = modulesFolderOf({ projectRoot, ...(modulesFolder !== undefined && { modulesFolder }) });
  if (file.absolute.startsWith(`${published}${path.sep}`)) return own.filter(({ list }) => list === 'errors');
  return [...own, ...(await checkNeedsOfImports(file, workspace))];
}

/** A module that cannot be found or read is no finding here: linking reports it. */
export async function checkNeedsOfImports(file: ParsedScript, workspace: Workspace): Promise<readonly LocatedFinding[]> {
  const found: LocatedFinding[] = [];
  const seen = new Set<string>();
  for (const statement of importsOf(file)) {
    for (const message of await missingIn(statement, seen, workspace)) {
      found.push({ list: 'warnings', code: MISSING_NEED, file, violation: { at: statement.source.at, message } });
    }
  }
  return found;
}

function importsOf({ script }: ParsedScript): readonly Import[] {
  return topLevel(script).filter((statement) => statement.kind === 'import');
}

/** Follows the published modules that a published module imports: a user of the first has to install what they need, too. */
async function missingIn({ source, written }: Import, seen: Set<string>, workspace: Workspace): Promise<readonly string[]> {
  const named = await namedModule(source, workspace);
  if (!named || !('absolute' in named) || seen.has(named.absolute)) return [];
  seen.add(named.absolute);
  const opened = await workspace.script(named.absolute);
  if (opened.kind !== 'parsed') return [];
  const messages = (await missingNeeds(opened.file, workspace)).map(({ message }) => `${written} ${message}`);
  for (const statement of importsOf(opened.file)) messages.push(...(await missingIn(statement, seen, workspace)));
  return [...new Set(messages)];
}
