// Generates the parsers from their grammars: node grammar/build.mjs. The result is never committed.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const generated = join(here, 'generated');

/** A rule may be in any file; the order of the files has no effect. */
const parsers = [
  {
    name: 'mlld',
    starts: ['Strict', 'Markdown', 'AttFile', 'MttFile', 'Lone'],
    files: [
      'tokens',
      'script',
      'markdown',
      'declarations',
      'modules',
      'control',
      'effects',
      'instrumentation',
      'values',
      'operators',
      'access',
      'pipelines',
      'code',
      'strings',
      'template-file',
    ].map((file) => join(here, 'mlld', `${file}.peggy`)),
  },
  {
    name: 'dot',
    starts: ['Pipeline', 'Condition', 'Stylesheet'],
    files: ['tokens', 'pipeline', 'condition', 'stylesheet'].map((file) => join(here, 'dot', `${file}.peggy`)),
  },
];

/** Writes every parser whose grammar is newer than what was generated from it. */
export async function buildParsers() {
  for (const parser of parsers) {
    const target = join(generated, `${parser.name}.js`);
    const sources = [...parser.files, fileURLToPath(import.meta.url)];
    if (modified(target) > Math.max(...sources.map(modified))) continue;
    const [{ default: peggy }, { transform }] = await Promise.all([import('peggy'), import('esbuild')]);
    const code = peggy.generate(
      parser.files.map((source) => ({ source, text: readFileSync(source, 'utf8') })),
      { output: 'source', format: 'es', allowedStartRules: parser.starts },
    );
    // Every start of the program reads this file; without its blanks and comments it is half as long.
    const { code: compact } = await transform(code, { minifyWhitespace: true, minifySyntax: true, charset: 'utf8' });
    mkdirSync(generated, { recursive: true });
    writeFileSync(join(generated, `${parser.name}.d.ts`), declarations(parser.starts));
    writeFileSync(target, compact);
  }
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function declarations(starts) {
  return `export interface Expectation {
  readonly type: 'literal' | 'class' | 'any' | 'end' | 'other' | 'pattern' | 'rule';
  readonly text?: string;
  readonly description?: string;
}
export class SyntaxError extends Error {
  readonly expected: readonly Expectation[] | null;
  readonly found: string | null;
  readonly location: { readonly start: { readonly offset: number } };
}
export type StartRule = ${starts.map((rule) => `'${rule}'`).join(' | ')};
export function parse(input: string, options: { readonly startRule: StartRule } & Record<string, unknown>): unknown;
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildParsers();
