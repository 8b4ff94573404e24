/** Modules of Node whose functions only compute: a replay calls them again, because what they return follows from their arguments. */
import type { EffectResult } from '../../world/world.js';

const modules: ReadonlyMap<string, () => Promise<object>> = new Map<string, () => Promise<object>>([
  ['path', () => import('node:path')],
  ['path/posix', () => import('node:path/posix')],
  ['path/win32', () => import('node:path/win32')],
  ['querystring', () => import('node:querystring')],
  ['url', () => import('node:url')],
]);

/** Returns the exports as a live import does; undefined for every other module. */
export async function pureModule(name: string): Promise<EffectResult<'node.import'> | undefined> {
  const loaded = (await modules.get(name.replace(/^node:/, ''))?.()) as Readonly<Record<string, unknown>> | undefined;
  return loaded && { exports: { ...(loaded['default'] as object), ...loaded } };
}
