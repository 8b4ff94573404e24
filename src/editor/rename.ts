/**
 * Renames a name of a file in all its places.
 *
 * RENAME-1  A rename changes every place of a name or none: it is refused where a place can't be found, or is in another file or in the
 *           code of another language.
 * RENAME-2  It changes the meaning of no other name: it is refused where the new name is taken, reserved or built in.
 */
import path from 'node:path';
import type { Code } from '../../grammar/ast.js';
import { isAmbientAnywhere } from '../validate/ambient-names.js';
import { findSources } from '../validate/linking/find-sources.js';
import { importedFile } from '../validate/linking/import-target.js';
import { freeNames } from '../validate/linking/template-names.js';
import type { ParsedScript } from '../validate/rule.js';
import type { Declaration } from '../validate/static-scope.js';
import { partsOf, resolveStatic } from '../validate/static-path.js';
import { topLevel } from '../validate/top-level.js';
import { mentionAt, mentionsOf, type Mention } from './mentions.js';
import { rangeOf, type Range } from './positions.js';
import type { ProjectView } from './project-view.js';
import { readableScript } from './readable-script.js';

export interface Refused {
  /** Says why, for the user. */
  readonly refused: string;
}

export interface Renaming {
  readonly name: string;
  readonly range: Range;
}

export interface Edit {
  readonly range: Range;
  readonly text: string;
}

const NAME = /^[A-Za-z_]\w*(?:-\w+)*$/;

/** Says what would be renamed, or why it can't be. */
export async function renamingAt(file: ParsedScript, at: number, view: ProjectView): Promise<Renaming | Refused> {
  const mention = mentionAt(file, at);
  if (!mention) return { refused: 'there is no name here' };
  const reason = refusalOf(mention, file) ?? (await refusalElsewhere(mention, file, view));
  return reason === undefined ? { name: mention.name, range: rangeOf(file.text, mention.from, mention.to) } : { refused: reason };
}

export async function renameAt(file: ParsedScript, at: number, written: string, view: ProjectView): Promise<readonly Edit[] | Refused> {
  const renaming = await renamingAt(file, at, view);
  const declaration = mentionAt(file, at)?.declaration;
  if ('refused' in renaming || !declaration) return 'refused' in renaming ? renaming : { refused: 'there is no name here' };
  const name = written.replace(/^@/, '');
  if (!NAME.test(name)) return { refused: `"${name}" is not a name: write letters, digits and _, and begin with a letter` };
  if (name === renaming.name) return [];
  if (isAmbientAnywhere(name)) return { refused: `@${name} is a name of the language` };
  const taken = (each: { readonly name: string }): boolean => each.name === name;
  if (file.symbols.declarations.some(taken) || file.symbols.uses.some(taken)) return { refused: `@${name} is in this file already` };
  return placesOf(declaration, file).map(({ from, to }) => ({ range: rangeOf(file.text, from, to), text: name }));
}

/** Returns the places in their order, each once. */
function placesOf(declaration: Declaration, file: ParsedScript): readonly Mention[] {
  const places = mentionsOf(file).filter((mention) => mention.declaration === declaration && mention.member === undefined);
  const own = places.filter(({ role, name }) => role !== 'imports' && name === declaration.name);
  return [...new Map(own.map((mention) => [mention.from, mention])).values()].toSorted((a, b) => a.from - b.from);
}

function refusalOf({ name, declaration, member }: Mention, file: ParsedScript): string | undefined {
  const { symbols } = file;
  if (member !== undefined) return `@${member} belongs to another file: rename it there`;
  if (!declaration) return isAmbientAnywhere(name) ? `@${name} is a name of the language` : `@${name} is not declared in this file`;
  const original = declaration.import?.names?.find((each) => (each.alias ?? each.name) === declaration.name);
  if (declaration.import && original?.alias === undefined && declaration.import.alias === undefined)
    return `@${name} comes from ${declaration.import.written}: rename it there, or import it as another name`;
  if (declaration.kind === 'implicit') return `@${name} is a name of the language`;
  const places = placesOf(declaration, file);
  if (!places.some(({ role }) => role === 'declares')) return `@${name} is made from another name, and written nowhere`;
  const uses = symbols.uses.filter(({ target }) => target === declaration);
  if (uses.length > places.filter(({ role }) => role === 'uses').length) return `a place of @${name} can't be found in the text`;
  const twins = symbols.declarations.filter((each) => each !== declaration && each.name === name);
  if (twins.some(({ made }) => made === 'sometimes') || declaration.clash)
    return `@${name} is declared in several places: rename them by hand`;
  if (declaration.kind === 'loop' && symbols.uses.some(({ target }) => target?.name === `${name}_key` && target.at === declaration.at))
    return `@${name}_key is made from this name`;
  return codeRefusal(declaration, file);
}

/** Code of another language has the parameters of its function as variables, and functions that it is lent. */
function codeRefusal(declaration: Declaration, { script, symbols }: ParsedScript): string | undefined {
  const { name, kind, at } = declaration;
  const word = new RegExp(`(?<![\\w])${name}(?![\\w])`);
  const owner = kind === 'param' ? symbols.declarations.find((each) => each.kind === 'exe' && each.at === at)?.exe : undefined;
  const lent = topLevel(script).some((statement) => statement.kind === 'shadow' && statement.names.some((each) => each.name === name));
  const codes = codesIn(owner ?? (lent ? script : undefined)).concat(codesIn(script).filter(({ variables }) => variables?.includes(name)));
  const found = codes.find(({ language, text }) => language !== 'cmd' && text.some((part) => part.kind === 'text' && word.test(part.text)));
  return found && `the ${found.language} code uses ${name}: rename it there by hand`;
}

function codesIn(node: unknown): Code[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.values(node).flatMap(codesIn);
  return (node as { readonly kind?: unknown }).kind === 'code' ? [node as Code, ...inside] : inside;
}

/** Templates see the parameters of their function and the names of its file; other files import by name. */
async function refusalElsewhere({ declaration, name }: Mention, file: ParsedScript, view: ProjectView): Promise<string | undefined> {
  if (!declaration) return undefined;
  const { workspace } = view;
  const isOfFile = file.symbols.module.get(name) === declaration;
  for (const statement of topLevel(file.script)) {
    if (statement.kind !== 'exe' || statement.body.kind !== 'template-file') continue;
    if (!isOfFile && !(declaration.kind === 'param' && declaration.at === statement.nameAt)) continue;
    const absolute = resolveStatic(partsOf(statement.body.path), path.dirname(file.absolute), workspace);
    const template = absolute === undefined ? undefined : await workspace.template(absolute);
    if (template?.kind === 'parsed' && freeNames(template.file).some((use) => use.name === name))
      return `${template.file.display} uses @${name}: rename it there by hand`;
  }
  return isOfFile ? importerRefusal(name, file, view) : undefined;
}

async function importerRefusal(name: string, file: ParsedScript, view: ProjectView): Promise<string | undefined> {
  const { workspace } = view;
  for (const source of await findSources(workspace.projectRoot, workspace.files)) {
    if (source === file.absolute || (await workspace.files.readText(source))?.includes(name) !== true) continue;
    const script = await readableScript(source, view);
    for (const statement of script ? topLevel(script.script) : []) {
      if (statement.kind !== 'import' || !script || (await importedFile(statement, script, workspace)) !== file.absolute) continue;
      const isNamed = statement.names?.some((each) => each.name === name);
      const isMember = mentionsOf(script).some(({ declaration, member }) => member === name && declaration?.import === statement);
      if (isNamed || isMember) return `${script.display} imports @${name}: rename it there by hand`;
    }
  }
  return undefined;
}
