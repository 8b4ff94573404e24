/**
 * Was it asked the same way? Design section 3: a digest over the definition of a function, of every function and template file
 * that it refers to, transitively, and of the outer variables that it captures. Places, comments and layout don't count;
 * neither do ambient values (`@now`, `@mx`, `@payload`).
 */
import type { DefinitionPart } from '../../journal/event.js';
import type { Fingerprint } from '../../journal/ids.js';
import { sha256 } from '../../journal/canonical.js';
import { Executable } from '../language/executable.js';
import type { Scope } from '../language/scope.js';
import { templateOf } from '../language/template-body.js';
import { shortened } from '../values/shortened.js';
import { compactJson } from '../values/text.js';
import { dataOf, type Value } from '../values/value.js';
import type { Awaitable } from './operation.js';
import { isSecret, SECRET, type SecretTexts } from './secret-texts.js';

export interface Definition {
  readonly fingerprint: Fingerprint;
  readonly parts: readonly DefinitionPart[];
}

interface Kept {
  readonly definition: Definition;
  /** The scopes that were looked into, and how often they had changed by then. */
  readonly seen: readonly { readonly scope: Scope; readonly version: number }[];
}

/** Digests of what is secret. */
export type KeyedDigest = (text: string) => Promise<string>;

/** Worked out once per state of the modules it looks into. `secrets`: what previews must not tell. */
export function fingerprintOf(executable: Executable, keyed: KeyedDigest, secrets?: SecretTexts): Awaitable<Definition> {
  const kept = executable.derived.get('fingerprint') as Kept | undefined;
  return kept?.seen.every(({ scope, version }) => scope.version === version) ? kept.definition : define(executable, keyed, secrets);
}

async function define(executable: Executable, keyed: KeyedDigest, secrets: SecretTexts | undefined): Promise<Definition> {
  const seen = new Map<Scope, number>();
  const parts: DefinitionPart[] = [];
  await collect(executable, { parts, done: new Set(), seen, keyed, secrets }, 'body');
  const digests = parts.map(({ kind, name, digest }) => `${kind} ${name} ${digest}`);
  const definition = { fingerprint: sha256(digests.join('\n')) as string as Fingerprint, parts };
  executable.derived.set('fingerprint', { definition, seen: [...seen].map(([scope, version]) => ({ scope, version })) } satisfies Kept);
  return definition;
}

interface Collection {
  readonly parts: DefinitionPart[];
  readonly done: Set<Executable>;
  readonly seen: Map<Scope, number>;
  readonly keyed: KeyedDigest;
  readonly secrets: SecretTexts | undefined;
}

async function collect(executable: Executable, collection: Collection, kind: 'body' | 'function'): Promise<void> {
  const { parts, done, seen, keyed, secrets } = collection;
  if (done.has(executable)) return;
  done.add(executable);
  const { scope } = executable.module;
  seen.set(scope, scope.version);
  const { names, digest } = shapeOf(executable);
  parts.push({ kind, name: executable.name, digest: executable.labels.includes(SECRET) ? await keyed(digest) : digest });
  const template = templateOf(executable);
  if (template) parts.push({ kind: 'template', name: template.written, digest: sha256(template.module.text) });
  const captured = template ? [...names, ...namesIn(template.template)] : names;
  for (const name of new Set(captured)) {
    if (executable.params.includes(name)) continue;
    const binding = scope.own(name);
    if (!binding) continue;
    const data = dataOf(binding.value);
    if (data instanceof Executable) await collect(data, collection, 'function');
    else parts.push(await variablePart(name, binding.value, keyed, secrets));
  }
}

const PREVIEW_UNITS = 80;

async function variablePart(name: string, value: Value, keyed: KeyedDigest, secrets: SecretTexts | undefined): Promise<DefinitionPart> {
  const text = compactJson(value);
  if (isSecret(value)) return { kind: 'variable', name, digest: await keyed(text) };
  return { kind: 'variable', name, digest: sha256(text), preview: shortened(secrets?.hide(text) ?? text, PREVIEW_UNITS) };
}

interface Shape {
  readonly digest: string;
  readonly names: readonly string[];
}

/** The tree without places, and the names in it. It never changes, so it is looked at once. */
function shapeOf(executable: Executable): Shape {
  const kept = executable.derived.get('shape') as Shape | undefined;
  if (kept) return kept;
  const { params, body, options } = executable.node;
  const shape = {
    digest: sha256(JSON.stringify([params.map(({ name }) => name), body, options], withoutPlaces)),
    names: namesIn([body, options]),
  };
  executable.derived.set('shape', shape);
  return shape;
}

function withoutPlaces(key: string, value: unknown): unknown {
  return key === 'at' || key === 'nameAt' || key === 'written' ? undefined : value;
}

/** Names of references and pipeline stages anywhere in a tree. */
function namesIn(tree: unknown): string[] {
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
