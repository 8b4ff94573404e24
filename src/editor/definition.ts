/** Finds where the name at a place is declared, in the file or in the module that it comes from. world.md 11.2. */
import type { Import, TemplateFile } from '../../grammar/ast.js';
import { importedFile } from '../validate/linking/import-target.js';
import type { ParsedScript } from '../validate/rule.js';
import type { Declaration } from '../validate/static-scope.js';
import { partsOf, resolveStatic } from '../validate/static-path.js';
import { topLevel } from '../validate/top-level.js';
import path from 'node:path';
import { mentionAt, nameOffsetOf, type Mention } from './mentions.js';
import { rangeOf, type Range } from './positions.js';
import type { ProjectView } from './project-view.js';
import { readableScript } from './readable-script.js';

export interface Place {
  readonly absolute: string;
  readonly range: Range;
}

export interface Definition {
  readonly file: ParsedScript;
  readonly declaration: Declaration;
}

/** Modules that import each other in a circle, and longer chains than anybody writes, end here. */
const HOPS_MAX = 20;
const START: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** Returns undefined where nothing is declared, as for built-in names. A path in quotes leads to its file. */
export async function definitionAt(file: ParsedScript, at: number, view: ProjectView): Promise<Place | undefined> {
  const source = pathAt(file, at);
  if (source) {
    const absolute = await fileOfPath(source, file, view);
    return absolute === undefined ? undefined : { absolute, range: START };
  }
  const mention = mentionAt(file, at);
  const found = mention && (await definitionOf(mention, file, view));
  if (!found) return undefined;
  const { name, import: imported } = found.declaration;
  const from = nameOffsetOf(found.declaration, found.file);
  if (from !== undefined) return { absolute: found.file.absolute, range: rangeOf(found.file.text, from, from + name.length) };
  const module = imported && (await importedFile(imported, found.file, view.workspace));
  return module === undefined ? undefined : { absolute: module, range: START };
}

/** Follows imports to the declaration. Returns the import itself where the module is not a script, or lacks the name. */
export async function definitionOf(mention: Mention, file: ParsedScript, view: ProjectView): Promise<Definition | undefined> {
  const { declaration, member } = mention;
  if (!declaration) return undefined;
  const found = await followed({ file, declaration }, member, view);
  return found ?? (member === undefined ? { file, declaration } : undefined);
}

async function followed(from: Definition, member: string | undefined, view: ProjectView): Promise<Definition | undefined> {
  let [current, wanted] = [from, member];
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const { file, declaration } = current;
    const { import: imported, name } = declaration;
    if (!imported) return wanted === undefined ? current : undefined;
    const original = imported.names?.find((each) => (each.alias ?? each.name) === name)?.name;
    const next = original ?? wanted;
    if (next === undefined) return current;
    if (original === undefined) wanted = undefined;
    const module = await importedFile(imported, file, view.workspace);
    const script = module === undefined ? undefined : await readableScript(module, view);
    const declared = script?.symbols.module.get(next);
    if (!script || !declared) return undefined;
    current = { file: script, declaration: declared };
  }
  return undefined;
}

type Source = Import | TemplateFile;

/** Returns the import or template whose path is at a place. */
function pathAt({ script, text }: ParsedScript, at: number): Source | undefined {
  return topLevel(script)
    .flatMap((statement): readonly Source[] => {
      if (statement.kind === 'import') return [statement];
      return statement.kind === 'exe' && statement.body.kind === 'template-file' ? [statement.body] : [];
    })
    .find((source) => {
      const from = source.kind === 'import' ? source.source.at : source.path.at;
      const length = /^(?:"[^"\n]*"|'[^'\n]*'|<[^>\n]*>|@[^\s]*)/.exec(text.slice(from))?.[0].length ?? 0;
      return from <= at && at < from + length;
    });
}

async function fileOfPath(source: Source, file: ParsedScript, { workspace }: ProjectView): Promise<string | undefined> {
  if (source.kind === 'import') return importedFile(source, file, workspace);
  const absolute = resolveStatic(partsOf(source.path), path.dirname(file.absolute), workspace);
  return absolute !== undefined && (await workspace.files.kindOf(absolute)) === 'file' ? absolute : undefined;
}
