/** Renders the reports of `mlld modules`. */
import type { AddedModule, ModuleCheck, ModuleList, OutdatedModule, RemovedModules } from '../../../src/api/published-modules.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { table } from '../table.js';

const DIGEST_UNITS = 12;
const USERS_SHOWN = 4;
const ABOUT_UNITS = 100;

export function renderAdded(added: readonly AddedModule[]): string {
  if (added.length === 0) return 'No modules: mlld modules add @author/name\n';
  const lines = added.map(({ name, version, sha256, change, before, importedBy, source }) => {
    const from = change === 'updated' ? ` (before: ${shown(before ?? null)})` : '';
    const why = importedBy === undefined ? '' : `, imported by ${importedBy}`;
    return `${change.padEnd(9)} ${name} ${shown(version)} ${sha256.slice(0, DIGEST_UNITS)} from ${oneLine(source)}${from}${why}`;
  });
  return linesToText(lines);
}

export function renderModules({ modules, unused }: ModuleList, style: Style): string {
  if (modules.length === 0) return linesToText(['No modules: mlld modules add @author/name', ...unusedLines(unused)]);
  const rows = modules.map(({ name, version, sha256, file, source, usedBy }) => [
    name,
    shown(version),
    sha256.slice(0, DIGEST_UNITS),
    file,
    oneLine(source),
    users(usedBy),
  ]);
  const list = table(columns('module', 'version', 'sha256', 'file', 'source', 'used by'), rows, style);
  return linesToText([...list, ...modules.flatMap(purpose), ...unusedLines(unused)]);
}

/** `@mlld/claude-poll: Waits for a file that a model writes (needs sh, git)` */
function purpose({ name, about, needs = [] }: ModuleList['modules'][number]): readonly string[] {
  if (about === undefined && needs.length === 0) return [];
  const all = needs.length === 0 ? '' : `needs ${needs.map(oneLine).join(', ')}`;
  return [`${name}: ${about === undefined ? all : `${clip(oneLine(about), ABOUT_UNITS)}${all === '' ? '' : ` (${all})`}`}`];
}

export function renderModuleCheck({ modules, unused, valid }: ModuleCheck): string {
  const wrong = modules.filter(({ file }) => file !== 'verified');
  const lines = wrong.map(({ name, file, path }) => `${name}: ${REMEDIES[file]} (${oneLine(path)})`);
  const total = `${modules.length} ${modules.length === 1 ? 'module' : 'modules'}`;
  return linesToText([...lines, valid ? `${total}, all verified` : `${total}, ${wrong.length} not verified`, ...unusedLines(unused)]);
}

const REMEDIES = {
  verified: 'verified',
  missing: 'the file is missing: mlld modules add restores it',
  changed: 'the file is not what the lock says: delete it, then mlld modules add restores it',
  link: 'a link is in the place of the file: delete it, then mlld modules add restores it',
};

export function renderRemoved({ removed, deleted }: RemovedModules): string {
  const lines = removed.map((name) => `removed ${name}`);
  return linesToText([...lines, `${deleted.length} ${deleted.length === 1 ? 'file' : 'files'} deleted`]);
}

export function renderOutdated(modules: readonly OutdatedModule[], style: Style): string {
  if (modules.length === 0) return 'No modules: mlld modules add @author/name\n';
  const rows = modules.map(({ name, version, latest, state, reason }) => [name, shown(version), shown(latest), oneLine(reason ?? state)]);
  return linesToText(table(columns('module', 'version', 'source has', 'state'), rows, style));
}

function users(usedBy: readonly string[]): string {
  if (usedBy.length === 0) return '-';
  const more = usedBy.length - USERS_SHOWN;
  return `${usedBy.slice(0, USERS_SHOWN).map(oneLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function unusedLines(unused: readonly string[]): readonly string[] {
  if (unused.length === 0) return [];
  const files = unused.length === 1 ? '1 file is' : `${unused.length} files are`;
  return [`${files} not in the lock: mlld modules remove --unused`];
}

function shown(version: string | null): string {
  return version === null ? '-' : oneLine(version);
}

function columns(...titles: readonly string[]): readonly { readonly title: string }[] {
  return titles.map((title) => ({ title }));
}

function linesToText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
