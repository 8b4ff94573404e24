/**
 * Fingerprints: a digest of the definition of a function, of every function and template file that it refers to, transitively, and of the
 * outer variables that it captures. Equal fingerprints mean that a call would be executed the same way. Places, comments and layout don't
 * count; neither do ambient values (`@now`, `@mx`, `@payload`). Guards and hooks have a fingerprint made in the same way. design.md 3.
 *
 * FINGERPRINT-1 Four kinds of parts are behind all others, because older programs did not look for them: variables that code lists,
 *    functions that it is given, functions that are members of a value (`@tools.ask(…)`), and functions that are arguments of the call. So
 *    the fingerprint of a function without these is the one that older programs made.
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
import { createReach, addReach, type MutableReach, type Reach } from '../runtime/definitions/reachable-operations.js';
import type { Scope } from '../runtime/scope.js';
import { isSecret, SECRET, type SecretRegistry } from '../runtime/secrets/secret-registry.js';
import { shortened } from '../values/shortened.js';
import { compactText } from '../values/text.js';
import { dataOf, type Value } from '../values/value.js';
import { calledFrom, codeIn, listedBy } from '../runtime/definitions/used-by-code.js';
import { functionsIn, functionsReached, usesIn } from '../runtime/definitions/uses.js';

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

/** Adds the functions among the arguments of a call to its definition: it would be executed with them. */
export function withPassedFunctions(
  definition: Awaitable<Definition>,
  inputs: readonly Value[],
  keyed: KeyedDigest,
  secrets?: SecretRegistry,
): Awaitable<Definition> {
  const passed = inputs.flatMap(functionsIn);
  return passed.length === 0 ? definition : Promise.resolve(definition).then(async (own) => withFunctions(own, passed, keyed, secrets));
}

/** Adds the function that answers the call in the place of a model, with all that it uses. */
export async function withBackend(
  own: Definition,
  backend: Executable,
  { digest, secrets }: { readonly digest: KeyedDigest; readonly secrets: SecretRegistry },
): Promise<Definition> {
  const { parts, reach: reached } = await definitionOf(backend, digest, secrets);
  const found = parts.map((part, i): DefinitionPart => ({ ...part, ...(i === 0 && { kind: 'function' }), inBackend: true }));
  const reach = createReach();
  addNames(reach, reached);
  addNames(reach, { functions: new Set([backend.name]), operations: operationsOf(backend), labels: new Set(backend.labels) });
  return { ...withParts(own, found), reach };
}

async function withFunctions(
  own: Definition,
  passed: readonly Executable[],
  keyed: KeyedDigest,
  secrets: SecretRegistry | undefined,
): Promise<Definition> {
  const found: DefinitionPart[] = [];
  const reach = createReach();
  addNames(reach, own.reach);
  for (const definable of passed) {
    const { parts, reach: reached } = await definitionOf(definable, keyed, secrets);
    for (const [i, part] of parts.entries()) addLate(found, own.parts, i === 0 ? { ...part, kind: 'function' } : part);
    addNames(reach, reached);
    addNames(reach, { functions: new Set([definable.name]), operations: operationsOf(definable), labels: new Set(definable.labels) });
  }
  return { ...withParts(own, found), reach };
}

async function define(definable: Definable, keyed: KeyedDigest, secrets: SecretRegistry | undefined): Promise<Definition> {
  const seen = new Map<Scope, number>();
  const parts: DefinitionPart[] = [];
  const reach = createReach();
  const codes: UsedCode[] = [];
  const members: Executable[] = [];
  const done = new Set<Definable>();
  await collect(definable, { parts, codes, members, reach, done, seen, keyed, secrets }, 'body');
  const later: DefinitionPart[] = [];
  // Functions that are found on the way are at the end of the list.
  for (const member of members) await collect(member, { parts: later, codes, members, reach, done, seen, keyed, secrets }, 'function');
  const known = [...parts];
  for (const part of later) addLate(parts, known, part);
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
  /** Functions that are reached as members of values. */
  readonly members: Executable[];
  readonly reach: MutableReach;
  readonly done: Set<Definable>;
  readonly seen: Map<Scope, number>;
  readonly keyed: KeyedDigest;
  readonly secrets: SecretRegistry | undefined;
}

async function collect(definable: Definable, collection: Collection, kind: 'body' | 'function'): Promise<void> {
  const { parts, codes, members, reach, done, seen, keyed, secrets } = collection;
  if (done.has(definable)) return;
  done.add(definable);
  const { scope } = definable.module;
  seen.set(scope, scope.version);
  const { tree, uses, code } = shapeOf(definable);
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
    for (const operation of operationsOf(definable)) reach.operations.add(operation);
    for (const label of definable.labels) reach.labels.add(label);
  }
  const captured = written ? [...uses, ...usesIn(written)] : uses;
  for (const name of new Set(captured.map((use) => use.name))) {
    if (definable.params.includes(name)) continue;
    const binding = scope.own(name);
    if (!binding) continue;
    const { value } = binding;
    const data = dataOf(value);
    if (data instanceof Executable) await collect(data, collection, 'function');
    else {
      parts.push(await variablePart(name, value, keyed, secrets));
      for (const use of captured) if (use.name === name) members.push(...functionsReached(value, use));
    }
  }
}

function operationsOf({ labels, code }: Executable): ReadonlySet<string> {
  return new Set(code ? [...labels, code.language] : labels);
}

function addNames(reach: MutableReach, names: Reach | undefined): void {
  for (const name of names?.functions ?? []) reach.functions.add(name);
  for (const name of names?.operations ?? []) reach.operations.add(name);
  for (const name of names?.labels ?? []) reach.labels.add(name);
}

/** Adds a part that older programs did not look for, unless it is there already. */
function addLate(parts: DefinitionPart[], known: readonly DefinitionPart[], part: DefinitionPart): void {
  const isSame = (each: DefinitionPart): boolean => each.kind === part.kind && each.name === part.name && each.digest === part.digest;
  if (!known.some(isSame) && !parts.some(isSame)) parts.push({ ...part, inCode: true });
}

/** Returns a part for each variable that code lists, and for each function that it is given, without those that are in `known` already. */
export async function partsOfCode(
  { code, module, params }: UsedCode,
  known: readonly DefinitionPart[],
  keyed: KeyedDigest,
  secrets?: SecretRegistry,
): Promise<readonly DefinitionPart[]> {
  const found: DefinitionPart[] = [];
  const add = (part: DefinitionPart): void => addLate(found, known, part);
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
  const shape = { tree, digest: sha256(JSON.stringify(tree, withoutPlaces)), uses: usesIn(tree), code: codeIn(tree) };
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
