/** Finds loads whose folder is in the project, but not in the folder of the script, where paths begin. world.md 4 and 19. */
import path from 'node:path';
import type { SourceFiles } from '../world/files/source-files.js';
import { loadsOf } from './loads-of.js';
import type { LocatedFinding } from './located-finding.js';
import type { ParsedScript } from './rule.js';

export interface LoadsHost {
  readonly projectRoot: string;
  readonly files: Pick<SourceFiles, 'kindOf'>;
}

const FOLDER_OF_THE_PROJECT = 'folder-of-the-project';

export async function checkLoads(file: ParsedScript, { projectRoot, files }: LoadsHost): Promise<readonly LocatedFinding[]> {
  const directory = path.dirname(file.absolute);
  const isThere = async (base: string, folder: string): Promise<boolean> => (await files.kindOf(path.join(base, folder))) === 'directory';
  const found: LocatedFinding[] = [];
  if (directory === projectRoot) return found;
  for (const load of loadsOf(file.script)) {
    const written = load.path.map((part) => (part.kind === 'text' ? part.text : '@')).join('');
    const [folder = '', ...rest] = written.split('/');
    if (rest.length === 0 || !/^\w[\w.-]*$/.test(folder)) continue;
    if ((await isThere(directory, folder)) || !(await isThere(projectRoot, folder))) continue;
    const message = `the folder ${folder} is not beside the script, where this path begins, but in the project`;
    const violation = { at: load.at, message, hint: `write <@root/${folder}/…>` };
    found.push({ list: 'warnings', code: FOLDER_OF_THE_PROJECT, file, violation });
  }
  return found;
}
