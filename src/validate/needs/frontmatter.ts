/** Reads what the frontmatter of a script says about it as a module: name, version, purpose and needs. world.md 11.6 and 11.7. */
import type { NeedsEntry, NeedsValue, Script } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { parseScriptFrontmatter, yamlErrorAt } from '../../values/formats/frontmatter.js';
import { isDataObject } from '../../values/plain-object.js';
import { dataOf, type Data, type DataObject } from '../../values/value.js';

export interface ModuleFacts {
  readonly name?: string;
  readonly author?: string;
  readonly version?: string;
  readonly about?: string;
  /** Has the form of `needs { … }`. */
  readonly needs: readonly NeedsEntry[];
}

export type ReadFrontmatter =
  { readonly facts: ModuleFacts; readonly problem?: undefined } | { readonly facts?: undefined; readonly problem: Problem };

interface Problem {
  readonly at: number;
  readonly message: string;
}

const NOTHING: ModuleFacts = { needs: [] };

/** Returns a problem for YAML that can't be read: a run of the file ends there as well. */
export async function readFrontmatter({ frontmatter }: Script, source: string): Promise<ReadFrontmatter> {
  if (!frontmatter) return { facts: NOTHING };
  const start = source.indexOf(frontmatter.text, frontmatter.at);
  try {
    const data = await parseScriptFrontmatter(frontmatter.text);
    const needsAt = /^needs[ \t]*:/m.exec(frontmatter.text)?.index ?? 0;
    return { facts: isDataObject(data) ? factsOf(data, start + needsAt) : NOTHING };
  } catch (error) {
    if (!(error instanceof MlldError)) throw error;
    return { problem: { at: start + yamlErrorAt(error), message: error.message } };
  }
}

function factsOf(fields: DataObject, needsAt: number): ModuleFacts {
  const facts: Partial<Record<'name' | 'author' | 'version' | 'about', string>> = {};
  for (const name of ['name', 'author', 'version', 'about'] as const) {
    const value = dataOf(fields[name]);
    if (typeof value === 'string' && value.trim() !== '') facts[name] = value.trim();
  }
  return { ...facts, needs: entriesOf(dataOf(fields['needs']), needsAt) };
}

/** `needs: [sh, git]` are words, `needs: { cmd: [git] }` are entries, and a list may hold both. */
function entriesOf(data: Data | undefined, at: number): readonly NeedsEntry[] {
  if (typeof data === 'string' && data.trim() !== '') return [{ name: data.trim(), at }];
  if (typeof data !== 'object' || data === null) return [];
  if (Array.isArray(data)) return data.flatMap((item) => entriesOf(dataOf(item), at));
  return Object.entries(data as DataObject).map(([name, value]) => {
    const written = valueOf(dataOf(value), at);
    return { name, at, ...(written && { value: written }) };
  });
}

function valueOf(data: Data | undefined, at: number): NeedsValue | undefined {
  if (typeof data === 'string') return { kind: 'word', at, text: data };
  if (typeof data !== 'object' || data === null) return undefined;
  if (Array.isArray(data)) return { kind: 'list', at, items: data.flatMap((item) => valueOf(dataOf(item), at) ?? []) };
  return { kind: 'map', at, entries: entriesOf(data, at) };
}
