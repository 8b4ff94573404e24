/**
 * Fingerprints: a digest of the definition of a function, of every function and template file that it refers to, transitively, and of the
 * outer variables that it captures. Equal fingerprints mean that a call would be executed the same way. Places, comments and layout don't
 * count; neither do ambient values (`@now`, `@mx`, `@payload`). Guards and hooks have a fingerprint made in the same way. design.md 3.
 *
 * FINGERPRINT-1 The variables that code lists, and the functions that it is given, are parts behind all others: the fingerprint of a
 *    function without such code is the one that older programs made.
 */
import type { Code, Template } from '../../grammar/ast.js';
import { sha256 } from '../../journal/canonical.js';
import type { DefinitionPart } from '../../journal/event.js';
import type { Fingerprint } from '../../journal/ids.js';
import type { Awaitable } from '../runtime/awaitable.js';
import type { Definable } from '../runtime/definitions/definable.js';
import type { DefinitionShape, Definition } from '../runtime/definitions/definition.js';
import { Executable } from '../runtime/definitions/executable.js';
import type { Module } from '../runtime/module.js';
import { createReach, addReach, type MutableReach } from '../runtime/definitions/reachable-operations.js';
import type { Scope } from '../runtime/scope.js';
import { isSecret, SECRET, type SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { shortened } from '../values/shortened.js';
import { compactText } from '../values/text.js';
import { dataOf, type Value } from '../values/value.js';
import { calledFrom, codeIn, listedBy } from '../runtime/definitions/used-by-code.js';

/** Digests secret texts with the key of the project. */
export type KeyedDigest = (text: string) => Promise<string>;

/** Computed once per state of the modules that it reads. `secrets` are hidden from previews. */
export function definitionOf(definable: Definable, keyed: KeyedDigest, secrets?: SecretRegistry): Awaitable<Definition> {
  const cached = definable.derived.definition;
  return cached?.seen.every(({ scope, version }) => scope.version === version) ? cached.definition : define(definable, keyed, secrets);
}

/** Digests the parts of a definition; their order counts. */
export function fingerprintOf(parts: readonly DefinitionPart[]): Fingerprint {
  return sha256(parts.map(({ kind, name, digest }) => `${kind} ${name} ${digest}`).join('\n')) as string as Fingerprint;
}

/** Adds the parts of guards and hooks to the definition of a function. */
export function withParts(definition: Definition, more: readonly DefinitionPart[]): Definition {
  const parts = [...definition.parts, ...more];
  return { ...definition, fingerprint: fingerprintOf(parts), parts };
}

async function define(definable: Definable, keyed: KeyedDigest, secrets: SecretRegistry | undefined): Promise<Definition> {
  const seen = new Map<Scope, number>();
  const parts: DefinitionPart[] = [];
  const reach = createReach();
  const codes: UsedCode[] = [];
  const done = new Set<Definable>();
  await collect(definable, { parts, codes, reach, done, seen, keyed, secrets }, 'body');
  for (const code of codes) parts.push(...(await partsOfCode(code, parts, keyed, secrets)));
  const definition = { fingerprint: fingerprintOf(parts), parts, reach };
  definable.derived.definition = { definition, seen: [...seen].map(([scope, version]) => ({ scope, version })) };
  return definition;
}

/** Blocks of code, and where the names that they have are declared. */
interface UsedCode {
  readonly code: readonly Code[];
  readonly module: Pick<Module, 'scope' | 'shadows'>;
  readonly params: readonly string[];
}

interface Collection {
  readonly parts: DefinitionPart[];
  readonly codes: UsedCode[];
  readonly reach: MutableReach;
  readonly done: Set<Definable>;
  readonly seen: Map<Scope, number>;
  readonly keyed: KeyedDigest;
  readonly secrets: SecretRegistry | undefined;
}

async function collect(definable: Definable, collection: Collection, kind: 'body' | 'function'): Promise<void> {
  const { parts, codes, reach, done, seen, keyed, secrets } = collection;
  if (done.has(definable)) return;
  done.add(definable);
  const { scope } = definable.module;
  seen.set(scope, scope.version);
  const { tree, names, code } = shapeOf(definable);
  if (code.length > 0) codes.push({ code, module: definable.module, params: definable.params });
  const schema = definable instanceof Executable ? definable.schema : undefined;
  parts.push({ kind, name: definable.name, digest: await digestOf(definable, keyed) });
  const template = definable instanceof Executable ? definable.template : undefined;
  if (schema) parts.push({ kind: 'schema', name: definable.name, digest: schema.digest });
  if (template) parts.push({ kind: 'template', name: template.written, digest: sha256(template.module.text) });
  const written: Template | undefined = template?.template;
  addReach(reach, [tree, written]);
  if (kind === 'function' && definable instanceof Executable) {
    reach.functions.add(definable.name);
    for (const label of definable.labels) reach.operations.add(label);
    for (const label of definable.labels) reach.labels.add(label);
    if (definable.code) reach.operations.add(definable.code.language);
  }
  const captured = written ? [...names, ...namesIn(written)] : names;
  for (const name of new Set(captured)) {
    if (definable.params.includes(name)) continue;
    const binding = scope.own(name);
    if (!binding) continue;
    const data = dataOf(binding.value);
    if (data instanceof Executable) await collect(data, collection, 'function');
    else parts.push(await variablePart(name, binding.value, keyed, secrets));
  }
}

/** Returns a part for each variable that code lists, and for each function that it is given, without those that are in `known` already. */
export async function partsOfCode(
  { code, module, params }: UsedCode,
  known: readonly DefinitionPart[],
  keyed: KeyedDigest,
  secrets?: SecretRegistry,
): Promise<readonly DefinitionPart[]> {
  const found: DefinitionPart[] = [];
  const add = (part: DefinitionPart): void => {
    const isSame = (each: DefinitionPart): boolean => each.kind === part.kind && each.name === part.name && each.digest === part.digest;
    if (!known.some(isSame) && !found.some(isSame)) found.push({ ...part, inCode: true });
  };
  for (const name of listedBy(code)) {
    const binding = params.includes(name) ? undefined : module.scope.own(name);
    if (binding && !(dataOf(binding.value) instanceof Executable)) add(await variablePart(name, binding.value, keyed, secrets));
  }
  for (const each of calledFrom(code, module, params)) add({ kind: 'function', name: each.name, digest: await digestOf(each, keyed) });
  return found;
}

async function digestOf(definable: Definable, keyed: KeyedDigest): Promise<string> {
  const { digest } = shapeOf(definable);
  return definable.labels.includes(SECRET) ? keyed(digest) : digest;
}

const PREVIEW_UNITS = 80;

async function variablePart(name: string, value: Value, keyed: KeyedDigest, secrets: SecretRegistry | undefined): Promise<DefinitionPart> {
  const text = compactText(value);
  if (isSecret(value)) return { kind: 'variable', name, digest: await keyed(text) };
  return { kind: 'variable', name, digest: sha256(text), preview: shortened(secrets?.redact(text) ?? text, PREVIEW_UNITS) };
}

function shapeOf(definable: Definable): DefinitionShape {
  const { derived } = definable;
  if (derived.shape) return derived.shape;
  const tree = treeOf(definable);
  const shape = { tree, digest: sha256(JSON.stringify(tree, withoutPlaces)), names: namesIn(tree), code: codeIn(tree) };
  derived.shape = shape;
  return shape;
}

/** Options that say how a call is executed, and not what its result is. calls.md 11.1. */
const NO_PART: ReadonlySet<string> = new Set(['repair', 'retries', 'timeout', 'lane', 'model', 'maxCost', 'onFailure', 'partial', 'files']);

function treeOf(definable: Definable): readonly unknown[] {
  const { node } = definable;
  switch (node.kind) {
    case 'exe': {
      // The content of a fixed schema is a part of its own: how and where it is written doesn't count.
      const isFixed = definable instanceof Executable && definable.schema !== undefined;
      const options = node.options.filter(({ name }) => !NO_PART.has(name) && !(isFixed && name === 'schema'));
      return [node.params.map(({ name }) => name), node.body, options];
    }
    case 'guard':
      return [node.timing, node.filter, node.privileged, node.rules];
    case 'hook':
      return [node.timing, node.filter, node.body];
  }
}

function withoutPlaces(key: string, value: unknown): unknown {
  return key === 'at' || key === 'nameAt' || key === 'written' ? undefined : value;
}

/** Names of references and pipeline stages anywhere in a tree. */
export function namesIn(tree: unknown): string[] {
  const names: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { kind, name } = node as { kind?: unknown; name?: unknown };
    if ((kind === 'reference' || kind === 'call-stage') && typeof name === 'string') names.push(name);
    Object.values(node).forEach(visit);
  };
  visit(tree);
  return names;
}
