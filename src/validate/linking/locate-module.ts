/** Finds the file of an import by the rules of `src/modules/locate-module.ts` and `directory-modules.ts`, but without a run. */
import path from 'node:path';
import type { Import } from '../../../grammar/ast.js';
import { MODULE_ENDINGS } from '../../modules/locate-module.js';
import { memberName } from '../../modules/directory-modules.js';
import { UNKNOWN_EXPORTS, type Exports } from '../exports.js';
import type { ParsedScript } from '../rule.js';
import type { SourceFiles } from '../../world/files/source-files.js';
import { report, type LinkState } from './link-state.js';

const INDEX = 'index.mld';

export type Located = { readonly kind: 'module' | 'directory'; readonly absolute: string } | { readonly kind: 'none' };

export async function locateModule(absolute: string, ending: 'slash' | 'name', files: SourceFiles): Promise<Located> {
  const kind = await files.kindOf(absolute);
  if (kind === 'file') return { kind: 'module', absolute };
  if (kind === 'directory') {
    const index = path.join(absolute, INDEX);
    const hasIndex = ending === 'name' && (await files.kindOf(index)) === 'file';
    return hasIndex ? { kind: 'module', absolute: index } : { kind: 'directory', absolute };
  }
  for (const extension of MODULE_ENDINGS) {
    if ((await files.kindOf(`${absolute}${extension}`)) === 'file') return { kind: 'module', absolute: `${absolute}${extension}` };
  }
  return { kind: 'none' };
}

/** Finds the folders in a folder that have an `index.mld`; each is a member. `exportsOf` checks one of them. */
export async function linkDirectory(
  node: Import,
  absolute: string,
  file: ParsedScript,
  linking: LinkState,
  exportsOf: (index: string) => Promise<Exports>,
): Promise<Exports> {
  const { files } = linking.workspace;
  const { folders, linkedFolders } = await files.list(absolute);
  const names = new Map<string, undefined>();
  for (const folder of [...folders, ...linkedFolders]) {
    // `skipDirs` is an expression, so the skipped folders are known only in a run.
    if (!node.skipDirs && /^[._]/.test(folder)) continue;
    const index = path.join(absolute, folder, INDEX);
    if ((await files.kindOf(index)) !== 'file') continue;
    if (!node.skipDirs) await exportsOf(index);
    names.set(memberName(folder), undefined);
  }
  if (names.size > 0) return { names, complete: node.skipDirs === undefined, listed: false };
  report(linking, file, {
    at: node.source.at,
    message: `No module in ${node.written}: neither it nor a folder in it has an ${INDEX}`,
    hint: `import a file of it by name, or add an ${INDEX}`,
  });
  return UNKNOWN_EXPORTS;
}
