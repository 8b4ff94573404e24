/** Executes `import`, from files, folders, Node modules and the data of the run. world.md 11. */
import path from 'node:path';
import type { Import, TemplatePart } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { refuseReserved } from '../language/expressions/ambient-variables.js';
import type { Completion } from '../runtime/completion.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import { notExported } from '../language/expressions/namespace-members.js';
import { redeclared } from '../language/statements/variables.js';
import { perform } from '../operation/perform.js';
import { namespaceValue, type Namespace } from '../values/kinds/namespace.js';
import { dataOf, flow, type Value } from '../values/value.js';
import { templateCollection } from './template-collections.js';
import { directoryModule } from './directory-modules.js';
import { moduleAt } from './load-module.js';
import { locateModule } from './locate-module.js';
import { nodeModule } from './node-module.js';
import { displayPath, prefixEscape, resolvePath, type ResolvedPath } from '../language/paths.js';
import { leavesFolder, resolvePrefix } from '../world/files/resolver-prefix.js';
import { providedModule } from './provided-data.js';
import { findByAddress, findPublished, type PublishedFile } from './published/find-published.js';

export async function executeImport(node: Import, frame: Frame): Promise<Completion> {
  const operation = { kind: 'import', segment: 'import', name: null, labels: [], inputs: [], target: node.written };
  await perform(frame, operation, async (inner) => {
    for (const { name, value, at } of await importedNames(node, inner)) bind(name, value, at, inner);
    return null;
  });
  return undefined;
}

interface Imported {
  readonly name: string;
  readonly value: Value;
  readonly at: number;
}

async function importedNames(node: Import, frame: Frame): Promise<readonly Imported[]> {
  const { source } = node;
  refuseType(node, frame);
  if (source.kind === 'node') return picked(node, await nodeModule(node, source, frame), (_name, at) => unreachable(at));
  if (source.kind === 'provided') {
    const provided = await providedModule(source.name, source.at, frame);
    if (provided?.isData) return fromData(node, provided.namespace);
    if (provided) return fromNamespace(node, provided.namespace, source.name, frame);
    const place = await pathOfName(node, source.name, frame);
    if (place) return fromPath(node, place, frame);
    return fromPublished(node, await publishedModule(node, source.name, frame), frame);
  }
  const place = await resolvePath(source.path, frame, source.at);
  const published = ADDRESS.test(place.name) ? await findByAddress(place.name, frame) : undefined;
  return published ? fromPublished(node, published, frame) : fromPath(node, place, frame);
}

const ADDRESS = /^https?:\/\//i;

async function fromPublished(node: Import, { absolute, module }: PublishedFile, frame: Frame): Promise<readonly Imported[]> {
  const place = { absolute, written: node.written, root: path.dirname(absolute), at: node.source.at, locked: module };
  const { values, interceptors, listed, frontmatter } = await moduleAt(place, frame);
  return fromNamespace(node, { members: values, interceptors, listed, frontmatter, source: node.written }, absolute, frame);
}

async function fromPath(node: Import, place: ResolvedPath, frame: Frame): Promise<readonly Imported[]> {
  const { absolute, rest, written, root, unknown } = place;
  if (node.type === 'templates') return fromNamespace(node, await templateCollection(absolute, node, frame), absolute, frame);
  const located = await locateModule(absolute, rest.endsWith('/') ? 'slash' : 'name', frame);
  if (located.kind === 'directory') return fromNamespace(node, await directoryModule(absolute, node, frame), absolute, frame);
  const { values, interceptors, listed, frontmatter } = await moduleAt(
    { absolute: located.absolute, written, root, unknown, at: node.source.at },
    frame,
  );
  return fromNamespace(node, { members: values, interceptors, listed, frontmatter, source: node.written }, absolute, frame);
}

function fromNamespace(node: Import, namespace: Namespace, file: string, frame: Frame): readonly Imported[] {
  if (!node.names) return [{ name: node.alias ?? nameAfter(file), value: namespaceValue(namespace), at: placeOfNamespace(node) }];
  const names = node.names.filter(({ name, alias }) => !isInterceptor(name, alias, namespace));
  return picked({ ...node, names }, namespace.members, (name, at) => {
    const error = notExported(name, `import { @${name} }`, node.written, namespace.members);
    error.location = locationOf(frame.module, at);
    throw error;
  });
}

/** Returns true for a hook or guard under its own name: an alias would not reach the messages and switches that use the name. */
function isInterceptor(name: string, alias: string | undefined, { members, interceptors }: Namespace): boolean {
  return alias === undefined && !members.has(name) && interceptors?.has(name) === true;
}

/** Binds data, which has no export list: a missing name is null, and the whole is a plain object. */
function fromData(node: Import, { members, source }: Namespace): readonly Imported[] {
  if (node.names) return picked(node, members, () => null);
  const object = Object.fromEntries([...members].map(([name, value]) => [name, dataOf(value)]));
  return [{ name: node.alias ?? nameAfter(source), value: flow(object, [...members.values()]), at: placeOfNamespace(node) }];
}

function picked(node: Import, members: ReadonlyMap<string, Value>, missing: (name: string, at: number) => Value): readonly Imported[] {
  return (node.names ?? []).map(({ name, alias, at, aliasAt = at }) => {
    const value = members.has(name) ? members.get(name) : missing(name, at);
    return { name: alias ?? name, value: value ?? null, at: aliasAt };
  });
}

function unreachable(at: number): never {
  throw new Error(`a name of a Node module was not looked up, at ${at}`);
}

/** Returns the position of the alias, or of the source, which names the namespace without one. */
function placeOfNamespace({ aliasAt, source }: Import): number {
  return aliasAt ?? source.at;
}

/** Throws REDECLARED for a name that the module already declares or imports. */
function bind(name: string, value: Value, at: number, frame: Frame): void {
  refuseReserved(name, frame.module, at);
  const existing = frame.scope.own(name);
  if (existing && existing.kind !== 'ambient') throw redeclared(name, at, existing, frame);
  frame.scope.define({ name, value, kind: 'import', at });
}

/** Derives the name of a namespace from its source: `my-lib.mld` becomes `my_lib`, `@cfg` becomes `cfg`. */
function nameAfter(source: string): string {
  const base = path.basename(source).replace(/\.(mld|mlld|mld\.md|mlld\.md|md|json)$/i, '');
  return base.replace(/^@/, '').replace(/[^\p{L}\p{N}_]/gu, '_');
}

/** Resolves `@lib/tools` by a prefix of the configuration and `"@folder/m"` by a variable; undefined for other names. */
async function pathOfName(node: Import, name: string, frame: Frame): Promise<ResolvedPath | undefined> {
  const { at } = node.source;
  const [, variable = '', rest = ''] = /^@([^/]+)(.*)$/.exec(name) ?? [];
  if (frame.scope.find(variable)) {
    const reference = { kind: 'reference', at, name: variable, steps: [] } as const;
    const hole: TemplatePart = { kind: 'hole', at, value: reference, pipes: [], written: `@${variable}` };
    return resolvePath([hole, { kind: 'text', text: rest }], frame, at);
  }
  const prefixed = resolvePrefix(name, frame.run.settings.prefixes);
  if (!prefixed) return undefined;
  const absolute = path.resolve(prefixed.root, prefixed.rest);
  if (leavesFolder(prefixed.root, absolute)) throw prefixEscape(name, frame, at);
  return { ...prefixed, written: name, name: displayPath(absolute, frame.run.settings), absolute, labelled: [] };
}

/** Throws UNKNOWN_SOURCE for a name that no published module can have. */
async function publishedModule(node: Import, name: string, frame: Frame): Promise<PublishedFile> {
  const { at } = node.source;
  const published = await findPublished(name, at, frame);
  if (published) return published;
  throw new MlldError('UNKNOWN_SOURCE', `${name} can't be imported: the run has no input and no resolver prefix of this name`, {
    location: locationOf(frame.module, at),
    hint: `pass it with --inject '${name}={…}', add a resolver prefix to mlld-config.json, or put the path of a file into quotes`,
  });
}

/** Throws IMPORT_TYPE for `live` and `cached`, because a run fetches nothing, and for a type that does not fit its source. */
function refuseType({ type, source, written, at }: Import, frame: Frame): void {
  if (type === undefined || (type === 'static' && source.kind === 'path') || (type === 'templates' && source.kind !== 'node')) return;
  if ((type === 'module' || type === 'local') && source.kind === 'provided') return;
  const isAddress = /^https?:/.test(written);
  throw new MlldError('IMPORT_TYPE', `import ${type} can't be used with ${written}`, {
    location: locationOf(frame.module, at),
    hint: isAddress ? `a run fetches nothing: mlld modules add ${written} --as @author/name, then import that name` : 'leave the type out',
  });
}
