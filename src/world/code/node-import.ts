/** Loads Node modules, for `import { x } from node @path`. */
import { readFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Importing } from './importing.js';
import { thrown } from './code-globals.js';
import { type EffectResult, type EffectRequest, WorldError } from '../world.js';

export async function importNodeModule(
  importing: Importing,
  { module, from }: EffectRequest<'node.import'>,
): Promise<EffectResult<'node.import'>> {
  const url = await urlOf(module, from);
  let loaded: Record<string, unknown>;
  try {
    loaded = (await importing.load(url)) as Record<string, unknown>;
  } catch (error) {
    throw thrown(error);
  }
  // A CommonJS module is the default export; its members count as exports.
  const whole = loaded['default'];
  const members = (typeof whole === 'object' || typeof whole === 'function') && whole !== null ? whole : {};
  return { exports: { ...members, ...loaded } };
}

async function urlOf(module: string, from: string): Promise<string> {
  if (isBuiltin(module)) return module.startsWith('node:') ? module : `node:${module}`;
  // Correct for a folder and for a file: the search goes upward from either.
  const require = createRequire(join(from, 'script.js'));
  try {
    return pathToFileURL(require.resolve(module)).href;
  } catch (error) {
    const entry = await importEntry(module, require.resolve.paths(module) ?? []);
    if (entry !== undefined) return pathToFileURL(entry).href;
    throw new WorldError('NODE_MODULE_MISSING', `the Node module ${module} was not found`, {
      hint: `npm install ${module}, or name a module of Node itself, such as path`,
      cause: error,
    });
  }
}

/** Finds the main file of a package that can only be imported, not required. */
async function importEntry(module: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const file = join(folder, module, 'package.json');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const exports = exportsIn(text);
    const main = importCondition(typeof exports === 'object' && exports !== null && '.' in exports ? exports['.'] : exports);
    if (main !== undefined) return join(dirname(file), main);
  }
  return undefined;
}

function exportsIn(packageText: string): unknown {
  try {
    return (JSON.parse(packageText) as { exports?: unknown }).exports;
  } catch {
    return undefined; // a damaged package reads as one that has nothing to import
  }
}

function importCondition(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    const found = ['node', 'import', 'default'].includes(condition) ? importCondition(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
