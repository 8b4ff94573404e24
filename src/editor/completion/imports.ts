/** Offers the names that an import list or an export list may have, and the files that an import may name. */
import path from 'node:path';
import { importedFile } from '../../validate/linking/import-target.js';
import { exportList } from '../../validate/exports.js';
import type { ParsedScript } from '../../validate/rule.js';
import type { Declaration } from '../../validate/static-scope.js';
import type { ProjectView } from '../project-view.js';
import { readableScript, scriptOf } from '../readable-script.js';
import { suggestionFor, type Suggestion } from './suggestion.js';

const IMPORT_LIST = /^[ \t]*\/?import\s*\{([^{}]*)$/m;
const EXPORT_LIST = /^[ \t]*\/?export\s*\{([^{}]*)$/m;
const REST = /^[^{}]*\}\s*from\s*("[^"\n]*"|<[^>\n]*>|@[^\s]+)/;
const PATH = /^[ \t]*\/?import\b.*"([^"\n]*)$|\btemplate\s+"([^"\n]*)$/;
const READABLE = /\.(?:mld|mlld|md|json|att|mtt)$/i;
const NAMESPACE = 'mlld_namespace_';
/** A list is searched for in so much of the text above. */
const LIST_UNITS_MAX = 4000;

/** Returns undefined where neither a list nor the path of an import is written. `at` is the place of the cursor. */
export async function importCompletionAt(file: ParsedScript, at: number, view: ProjectView): Promise<readonly Suggestion[] | undefined> {
  const before = file.text.slice(Math.max(0, at - LIST_UNITS_MAX), at);
  const [, written, template] = PATH.exec(before.slice(before.lastIndexOf('\n') + 1)) ?? [];
  const started = written ?? template;
  if (started !== undefined) return pathsFor(started, file, view);
  const sign = /@[\w-]*$/.test(before) ? '' : '@';
  const [, exported] = EXPORT_LIST.exec(before) ?? [];
  if (exported !== undefined) return listed([...file.symbols.module.values()].map(suggestionFor), exported, sign);
  const [, imported] = IMPORT_LIST.exec(before) ?? [];
  if (imported === undefined) return undefined;
  const [, source] = REST.exec(file.text.slice(at, at + LIST_UNITS_MAX)) ?? [];
  if (source === undefined) return [];
  const namespace = scriptOf(`import ${source} as @${NAMESPACE}\n`, file.absolute, file.display).symbols.module.get(NAMESPACE);
  return listed(namespace ? await exportedBy(namespace, file, view) : [], imported, sign);
}

/** Returns what the module of a namespace exports. */
export async function exportedBy({ import: imported }: Declaration, file: ParsedScript, view: ProjectView): Promise<readonly Suggestion[]> {
  const module = imported && (await importedFile(imported, file, view.workspace));
  const script = module === undefined ? undefined : await readableScript(module, view);
  if (script === undefined) return [];
  const names = exportList(script.script);
  const isExported = ({ name }: Declaration): boolean => names.length === 0 || names.includes('*') || names.includes(name);
  return [...script.symbols.module.values()].filter(isExported).map(suggestionFor);
}

/** Leaves out what the list has already. */
function listed(all: readonly Suggestion[], written: string, sign: '' | '@'): readonly Suggestion[] {
  const known = new Set(written.slice(0, Math.max(written.lastIndexOf(',') + 1, 0)).match(/[\w-]+/g));
  return all.filter(({ label }) => !known.has(label)).map((each) => ({ ...each, label: sign + each.label }));
}

async function pathsFor(started: string, file: ParsedScript, { workspace }: ProjectView): Promise<readonly Suggestion[]> {
  if (!/^\.{0,2}(?:\/|$)|^\w/.test(started)) return [];
  const folder = path.resolve(path.dirname(file.absolute), started.slice(0, started.lastIndexOf('/') + 1));
  const { files, folders } = await workspace.files.list(folder);
  const readable = files.filter((name) => READABLE.test(name) && path.join(folder, name) !== file.absolute);
  return [...readable, ...folders.map((name) => `${name}/`)].map((label) => ({ label, kind: 'field' }));
}
