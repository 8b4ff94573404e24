/** Imports a folder as a module, with one member for each folder in it that has an `index.mld`. world.md 11.3. */
import path from 'node:path';
import type { Import } from '../../grammar/ast.js';
import { MlldError } from '../errors.js';
import { locationOf } from '../runtime/errors.js';
import type { Frame } from '../runtime/frame.js';
import { performEffect } from '../operation/perform-effect.js';
import { textOf } from '../values/text.js';
import { dataOf, type Value } from '../values/value.js';
import { namespaceValue, type Namespace } from '../values/kinds/namespace.js';
import { moduleAt } from './load-module.js';
import { indexIn } from './locate-module.js';
import { displayPath } from '../language/paths.js';

const SKIPPED = ['_*', '.*'];

export async function directoryModule(absolute: string, node: Import, frame: Frame): Promise<Namespace> {
  const skipped = await skipPatterns(node, frame);
  const { folders } = await performEffect(frame, 'file.list', { path: absolute });
  const members = new Map<string, Value>();
  for (const folder of folders) {
    if (skipped.some((pattern) => pattern.test(folder))) continue;
    const index = await indexIn(path.join(absolute, folder), frame);
    if (index === undefined) continue;
    const place = { absolute: index, written: displayPath(index, frame.run.settings), root: absolute, at: node.source.at };
    const { values, listed, frontmatter } = await moduleAt(place, frame);
    members.set(memberName(folder), namespaceValue({ members: values, listed, frontmatter, source: place.written }));
  }
  if (members.size > 0) return { members, listed: false, frontmatter: undefined, source: node.written };
  throw new MlldError('DIRECTORY_EMPTY', `No module in ${node.written}: neither it nor a folder in it has an index.mld`, {
    location: locationOf(frame.module, node.source.at),
    hint: 'import a file of it by name, or add an index.mld',
  });
}

/** Replaces characters that a member's name can't hold; hyphens are allowed. */
export function memberName(file: string): string {
  return file.replace(/[^\p{L}\p{N}_-]/gu, '_');
}

async function skipPatterns({ skipDirs, at }: Import, frame: Frame): Promise<readonly RegExp[]> {
  if (!skipDirs) return SKIPPED.map(toRegExp);
  const patterns = dataOf(await frame.evaluate(skipDirs, frame));
  if (Array.isArray(patterns)) return (patterns as readonly Value[]).map((pattern) => toRegExp(textOf(pattern)));
  throw new MlldError('BAD_SKIP_DIRS', 'skipDirs takes a list of name patterns', {
    location: locationOf(frame.module, at),
    hint: 'write: with { skipDirs: ["_*", "test"] }',
  });
}

/** Reads a pattern in which `*` is any number of characters and `?` is one. */
function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'u');
}
