/** A world in memory: files by absolute path, an environment, standard input. Commands and code of other languages are not in it. */
import path from 'node:path';
import { WorldError, type EffectResult, type EffectRequest, type EffectKind, type World } from '../../src/world/world.js';

export interface FakeWorldOptions {
  readonly files?: { readonly [path: string]: string };
  readonly stdin?: string;
  readonly environment?: { readonly [name: string]: string };
  /** Modules of Node by name. */
  readonly node?: { readonly [module: string]: { readonly [name: string]: unknown } };
}

type Table = { readonly [Q in EffectKind]?: (request: EffectRequest<Q>) => EffectResult<Q> };

const NOW_MS = Date.UTC(2026, 0, 1);

export class FakeWorld implements World {
  readonly files: Map<string, string>;
  readonly environment: Map<string, string>;
  /** Every effect with its path or pattern, in order. */
  readonly performed: string[] = [];
  private readonly table: Table;

  constructor({ files = {}, stdin, environment = {}, node = {} }: FakeWorldOptions = {}) {
    this.files = new Map(Object.entries(files));
    this.environment = new Map(Object.entries(environment));
    this.table = {
      'file.read': ({ path: file }) => this.read(file),
      'file.write': ({ path: file, text }) => this.put(file, text),
      'file.append': ({ path: file, text }) => this.put(file, (this.files.get(file) ?? '') + text),
      'file.stat': ({ path: file }) => ({ kind: this.kindOf(file) }),
      'file.glob': ({ root, pattern }) => ({ paths: [...this.files.keys()].filter(matcher(path.resolve(root, pattern))).sort() }),
      'file.list': ({ path: folder }) => this.list(folder),
      'file.similar': ({ path: file }) => ({
        names: this.list(path.dirname(file)).files.filter((name) => name[0] === path.basename(file)[0]),
      }),
      'clock.now': () => ({ ms: NOW_MS }),
      'stdin.read': () => (stdin === undefined ? {} : { text: stdin }),
      'env.read': ({ names, prefixes }) => ({
        values: Object.fromEntries(
          [...this.environment].filter(([name]) => names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))),
        ),
      }),
      'env.set': ({ name, value }) => {
        this.environment.set(name, value);
        return {};
      },
      'node.import': ({ module }) => {
        const exports = node[module];
        if (!exports) throw new WorldError('NODE_MODULE', `Cannot find module ${module}`);
        return { exports };
      },
    };
  }

  async perform<Q extends EffectKind>(kind: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    this.performed.push(`${kind} ${'path' in request ? request.path : 'root' in request ? request.pattern : ''}`.trimEnd());
    const respond = this.table[kind];
    if (!respond) throw new Error(`the fake world has no ${kind}`);
    return respond(request);
  }

  async close(): Promise<void> {
    // Nothing runs in here.
  }

  private read(file: string): EffectResult<'file.read'> {
    const text = this.files.get(file);
    if (text !== undefined) return { text };
    return this.kindOf(file) === 'directory' ? { missing: 'directory', detail: '' } : { missing: 'absent', detail: '' };
  }

  private put(file: string, text: string): Record<string, never> {
    this.files.set(file, text);
    return {};
  }

  private kindOf(file: string): 'file' | 'directory' | 'none' {
    if (this.files.has(file)) return 'file';
    return [...this.files.keys()].some((known) => known.startsWith(`${file.replace(/\/$/, '')}/`)) ? 'directory' : 'none';
  }

  private list(folder: string): EffectResult<'file.list'> {
    const below = [...this.files.keys()]
      .filter((file) => file.startsWith(`${folder}/`))
      .map((file) => file.slice(folder.length + 1).split('/'));
    const first = (parts: readonly string[][]): string[] => [...new Set(parts.map(([name]) => name as string))].sort();
    return { files: first(below.filter(({ length }) => length === 1)), folders: first(below.filter(({ length }) => length > 1)) };
  }
}

/** `**`, `*`, `?` and classes; no file or folder whose name begins with a dot. */
function matcher(pattern: string): (file: string) => boolean {
  const source = pattern.replace(/\*\*\/|\*|\?|\[[^\]]*\]|[.+^${}()|\\]/g, (found) => {
    if (found === '**/') return '(?:[^/.][^/]*/)*';
    if (found === '*') return '(?!\\.)[^/]*';
    if (found === '?') return '[^/]';
    return found.startsWith('[') ? found : `\\${found}`;
  });
  return (file) => new RegExp(`^${source}$`).test(file);
}
