/** Reads the index of a registry: which file a name means. Pure. docs/modules.md has its form. */
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { isVersion, satisfies, type ModuleName } from '../../modules/published/module-name.js';

/** The index of the registry of the reference implementation. */
export const PUBLIC_REGISTRY = 'https://raw.githubusercontent.com/mlld-lang/registry/main/modules.json';

export interface IndexEntry {
  readonly address: string;
  readonly version?: string;
  /** In hexadecimal, where the index has one. */
  readonly sha256?: string;
}

export type Found = IndexEntry | { readonly problem: string };

/** Looks a name up in the text of an index; relative addresses start at the index. A problem is a part of a sentence. */
export function findInIndex(text: string, { name, wanted }: ModuleName, index: string): Found {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch (error) {
    return { problem: `the index is not valid JSON: ${(error as Error).message}` };
  }
  const modules = isObject(whole) && isObject(whole['modules']) ? whole['modules'] : whole;
  const module = isObject(modules) ? modules[name] : undefined;
  if (!isObject(module)) return { problem: `the index has no ${name}` };
  const versions = versionsOf(module);
  const fitting = versions.filter(({ version }) => satisfies(version, wanted));
  const [entry] = fitting;
  if (entry === undefined) {
    const known = versions.map(({ version }) => version ?? '(none)').join(', ');
    return { problem: `the index has ${name} in the versions ${known || '(none)'}, and not ${wanted ?? ''}` };
  }
  return entryOf(entry.entry, entry.version, index);
}

/** The version that the entry itself has comes first, then the others from the last one that the index lists. */
function versionsOf(module: JsonObject): readonly { readonly version: string | undefined; readonly entry: JsonObject }[] {
  const own = { version: textOf(module['version']), entry: module };
  const { versions } = module;
  const others = isObject(versions)
    ? Object.entries(versions).flatMap(([version, entry]) => (isObject(entry) && version !== own.version ? [{ version, entry }] : []))
    : [];
  return hasAddress(module) ? [own, ...others.toReversed()] : others.toReversed();
}

function hasAddress(entry: JsonObject): boolean {
  return addressIn(entry) !== undefined;
}

function addressIn({ source, url }: JsonObject): string | undefined {
  return textOf(url) ?? textOf(source) ?? (isObject(source) ? textOf(source['url']) : undefined);
}

function entryOf(entry: JsonObject, version: string | undefined, index: string): Found {
  const written = addressIn(entry);
  if (written === undefined || !URL.canParse(written, index)) return { problem: 'the index names no address for it' };
  const source = isObject(entry['source']) ? entry['source'] : {};
  const hash = [entry['sha256'], entry['integrity'], source['contentHash'], source['sha256']]
    .map(textOf)
    .find((text) => text !== undefined);
  const sha256 = hash === undefined ? undefined : /^(?:sha256[:-])?([0-9a-f]{64})$/i.exec(hash)?.[1]?.toLowerCase();
  if (hash !== undefined && sha256 === undefined)
    return { problem: `the index has a digest of an unknown form for it: ${hash.slice(0, 80)}` };
  if (version !== undefined && !isVersion(version))
    return { problem: `the index has a version of an unknown form for it: ${JSON.stringify(version.slice(0, 40))}` };
  return {
    address: new URL(written, index).href,
    ...(version !== undefined && { version }),
    ...(sha256 !== undefined && { sha256 }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
