/** A disk for the analysis: a few texts by absolute path. */
import path from 'node:path';
import { createValidator, type ValidatorSettings } from '../../../src/validate/validator.js';
import type { FileReport, Finding } from '../../../src/validate/report.js';
import type { SourceFiles } from '../../../src/world/files/source-files.js';

const ROOT = '/project';

/** The text of a file that is there and can't be read. */
export const UNREADABLE = '\u0000unreadable';

export type Texts = { readonly [name: string]: string };

/** The report on `main.mld` (or `main`), and how often each file was read. */
export async function analyze(
  texts: Texts | string,
  { main = 'main.mld', ...settings }: Partial<ValidatorSettings> & { readonly main?: string } = {},
): Promise<FileReport & { readonly reads: readonly string[] }> {
  const reads: string[] = [];
  const files = filesInMemory(typeof texts === 'string' ? { [main]: texts } : texts, reads);
  const analyzer = createValidator({
    files,
    display: (absolute) => path.relative(ROOT, absolute),
    projectRoot: ROOT,
    prefixes: [],
    suppressed: [],
    searchPath: ['/bin'],
    depth: 'file',
    ...settings,
  });
  const report = await analyzer.validate(path.join(ROOT, main), main);
  if (!report) throw new Error(`there is no ${main} to analyze`);
  return { ...report, reads };
}

export function errorLines({ errors = [] }: FileReport): readonly string[] {
  return errors.map(line);
}

export function warningLines({ warnings = [], antiPatterns = [] }: FileReport): readonly string[] {
  return [...warnings, ...antiPatterns].map(line);
}

/** `2:10 undefined-variable @nmae`, with the file in front when it is another one. */
function line({ file, line: row, column, code, variable }: Finding): string {
  return `${file === undefined ? '' : `${file}:`}${row}:${column} ${code}${variable === undefined ? '' : ` @${variable}`}`;
}

function filesInMemory(texts: Texts, reads: string[]): SourceFiles {
  const absolute = new Map(Object.entries(texts).map(([name, text]) => [path.resolve(ROOT, name), text]));
  const below = (folder: string): string[] =>
    [...absolute.keys()].filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));
  return {
    async readText(name) {
      reads.push(path.relative(ROOT, name));
      return absolute.get(name) === UNREADABLE ? undefined : absolute.get(name);
    },
    async kindOf(name) {
      return absolute.has(name) ? 'file' : below(name).length > 0 ? 'directory' : 'none';
    },
    async isProgram(name) {
      return absolute.get(name)?.startsWith('#!') === true;
    },
    async list(folder) {
      const names = below(folder);
      const folders = new Set(names.filter((name) => name.includes('/')).map((name) => name.split('/')[0] as string));
      return { files: names.filter((name) => !name.includes('/')).sort(), folders: [...folders].sort(), linkedFolders: [] };
    },
  };
}
