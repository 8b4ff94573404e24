/** Imports the templates of a folder as functions of one signature: `import templates from "./dir" as @t(p, q)`. world.md 13.4. */
import path from 'node:path';
import type { Import, Load, Param, TemplatePart } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import { Executable, type LoadedTemplate } from '../runtime/definitions/executable.js';
import type { Frame } from '../runtime/frame.js';
import { readTemplate, templateKind } from '../language/expressions/template-file.js';
import { performEffect } from '../operation/perform-effect.js';
import { namespaceValue, type Namespace } from '../values/kinds/namespace.js';
import type { Value } from '../values/value.js';
import { memberName } from './directory-modules.js';

/** Every template may use these names besides its parameters. */
const ALLOWED = ['mx', 'p', 'pipeline', 'state', 'payload', 'input'];
/** The start of a path may use these too, because they bring no data into the template. */
const ALLOWED_IN_PATHS = ['root', 'base'];
const DEPTH_MAX = 20;

export async function templateCollection(absolute: string, node: Import, frame: Frame): Promise<Namespace> {
  const refuse = (code: string, message: string, hint?: string): MlldError =>
    new MlldError(code, message, { location: locationOf(frame.module, node.at), hint });
  const { alias, params, written } = node;
  if (alias === undefined || !params) {
    throw refuse(
      'COLLECTION_SIGNATURE',
      `import templates from "${written}" needs a name and parameters`,
      `write: import templates from "${written}" as @name(a, b)`,
    );
  }
  if ((await performEffect(frame, 'file.stat', { path: absolute })).kind !== 'directory') {
    throw refuse('COLLECTION_DIRECTORY', `import templates needs a directory, and ${written} is not one`);
  }
  const members = await membersOf({ directory: absolute, written, depth: 0 }, params, node, frame);
  if (members.size === 0)
    throw refuse('COLLECTION_EMPTY', `There are no templates in ${written}`, 'templates are files whose names end in .att or .mtt');
  return { members, listed: true, frontmatter: undefined, source: written };
}

interface Folder {
  readonly directory: string;
  readonly written: string;
  readonly depth: number;
}

async function membersOf(
  { directory, written, depth }: Folder,
  params: readonly Param[],
  node: Import,
  frame: Frame,
): Promise<Map<string, Value>> {
  const refuse = (code: string, message: string): MlldError =>
    new MlldError(code, message, { location: locationOf(frame.module, node.at) });
  if (depth > DEPTH_MAX)
    throw refuse('COLLECTION_DEPTH', `The folders below ${node.written} are nested more than ${DEPTH_MAX} levels deep`);
  const members = new Map<string, Value>();
  const add = (file: string, name: string, value: Value): void => {
    if (members.has(name)) throw refuse('COLLECTION_CLASH', `Two templates in ${written} are both called @${name}: rename ${file}`);
    members.set(name, value);
  };
  const { files, folders } = await performEffect(frame, 'file.list', { path: directory });
  for (const file of files.filter(templateKind)) {
    const place = `${written.replace(/\/$/, '')}/${file}`;
    const loaded = await readTemplate({ absolute: path.join(directory, file), written: place, at: node.source.at }, frame);
    refuseUnknown(loaded, params);
    const name = memberName(path.parse(file).name);
    add(file, name, templateFunction(name, loaded, place, params));
  }
  for (const folder of folders) {
    if (folder.startsWith('.') || folder === 'node_modules') continue;
    const below = { directory: path.join(directory, folder), written: `${written.replace(/\/$/, '')}/${folder}`, depth: depth + 1 };
    const inner = await membersOf(below, params, node, frame);
    if (inner.size > 0)
      add(folder, memberName(folder), namespaceValue({ members: inner, listed: true, frontmatter: undefined, source: below.written }));
  }
  return members;
}

function templateFunction(name: string, loaded: LoadedTemplate, written: string, params: readonly Param[]): Executable {
  const at = 0;
  const body = { kind: 'template-file', at, path: { kind: 'literal', at, value: written } } as const;
  const { module } = loaded;
  const executable = new Executable({ kind: 'exe', at, labels: [], name, nameAt: at, params, body, options: [] }, module);
  executable.template = loaded;
  return executable;
}

function refuseUnknown({ template, module }: LoadedTemplate, params: readonly Param[]): void {
  const known = new Set([...ALLOWED, ...params.map(({ name }) => name)]);
  for (const { name, at } of freeNames(template.parts, known)) {
    throw new MlldError('COLLECTION_VARIABLE', `The template ${module.display} uses @${name}, which is not a parameter of the collection`, {
      location: locationOf(module, at),
      hint: `its parameters are ${params.map((param) => `@${param.name}`).join(', ') || 'none'}; write @@ for an at sign`,
    });
  }
}

interface Use {
  readonly name: string;
  readonly at: number;
}

/** Yields names that are used and not known; loop variables are known in their loop. */
function* freeNames(parts: readonly TemplatePart[], known: ReadonlySet<string>): Generator<Use> {
  for (const part of parts) {
    switch (part.kind) {
      case 'hole':
        yield* namesIn([part.value, part.pipes], known);
        if (part.then) yield* freeNames(part.then, known);
        break;
      case 'load-part':
        yield* namesIn((part.load satisfies Load).path, new Set([...known, ...ALLOWED_IN_PATHS]));
        break;
      case 'loop-part': {
        yield* namesIn(part.source, known);
        const own = part.key === undefined ? [part.name, `${part.name}_key`] : [part.name, part.key];
        yield* freeNames(part.body, new Set([...known, ...own]));
        break;
      }
      case 'text':
      case 'file-text':
        break;
    }
  }
}

/** Yields the unknown references anywhere in an expression, in arguments and indexes too. */
function* namesIn(tree: unknown, known: ReadonlySet<string>): Generator<Use> {
  if (typeof tree !== 'object' || tree === null) return;
  const { kind, name, at } = tree as { readonly kind?: unknown; readonly name?: unknown; readonly at?: unknown };
  if (kind === 'reference' && typeof name === 'string' && !known.has(name)) yield { name, at: Number(at) };
  for (const child of Object.values(tree)) yield* namesIn(child, known);
}
