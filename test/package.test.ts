/** The installed package has its files and their notices, and needs nothing else to be used. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packPackage, PACKING_MS, STRICT, TSC } from './support/packed-package.js';
import { PROJECT } from './support/source-files.js';

const run = promisify(execFile);
const { dependencies, devDependencies, version } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as {
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly version: string;
};
const NODE_MODULES = path.join(PROJECT, 'node_modules');

let folder: string;
let packed: readonly string[];

beforeAll(() => ({ folder, files: packed } = packPackage()), PACKING_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the files of the package', () => {
  it('are the program, its documents and its examples', () => {
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/THIRD-PARTY.txt',
      'dist/cli.cjs',
      'dist/commands.cjs',
      'dist/index.js',
      'dist/lsp.cjs',
      'dist/mlld.cjs',
      'dist/mlld.tmLanguage.json',
      'dist/packages.cjs',
      'dist/pg.cjs',
      'dist/prices.cjs',
      'dist/report.css',
      'dist/report.js',
      'dist/serve.css',
      'dist/serve.js',
      'dist/team.cjs',
      'dist/trend.css',
      'dist/trend.js',
      'dist/types/src/api/index.d.ts',
      'dist/workflows.cjs',
      'docs/journal-format.md',
      'examples/repo-review/README.md',
      'examples/starters/models/models.mld',
      'examples/starters/summary/llm/run/summary/index.mld',
      'package.json',
    ];
    expect(packed).toEqual(expect.arrayContaining(expected));
  });

  it('are no sources, no tests, and nothing that a run left behind', () => {
    const strange = packed.filter((file) => !/^(dist|docs|examples)\/|^(CHANGELOG|README)\.md$|^LICENSE$|^package\.json$/.test(file));
    expect(strange).toEqual([]);
    expect(packed.filter((file) => /(^|\/)(\.mlld|out|node_modules)\//.test(file))).toEqual([]);
  });
});

describe('THIRD-PARTY.txt', () => {
  it('has each package of which something is in a bundle, with its version and licence', async () => {
    const { metafile } = await build({
      absWorkingDir: PROJECT,
      entryPoints: ['cli/main.ts', 'viewer/report/main.tsx', 'viewer/serve/main.tsx'],
      jsx: 'automatic',
      jsxImportSource: 'preact',
      bundle: true,
      external: ['pg-native', 'pg-cloudflare'], // as in build.mjs
      write: false,
      metafile: true,
      platform: 'node',
      outdir: 'unused',
      logLevel: 'error',
    });
    const inside = Object.values(metafile.outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([file]) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
    const names = [...new Set(inside)];
    expect(names).toContain('commander');
    const [, ...notices] = readFileSync(path.join(PROJECT, 'dist/THIRD-PARTY.txt'), 'utf8').split(`\n${'-'.repeat(80)}\n`);
    for (const name of names) {
      const installed = JSON.parse(readFileSync(path.join(NODE_MODULES, name, 'package.json'), 'utf8')) as { version: string };
      const [notice = ''] = notices.filter((text) => text.startsWith(`${name} ${installed.version} (`));
      expect(notice, name).toMatch(/permi(t|ssion)/i);
      expect(notice.length, name).toBeGreaterThan(400);
    }
    const noticed = new Set(notices.map((text) => text.slice(0, text.indexOf(' ')))); // of one, two versions may be in
    expect(noticed.size).toBe(names.length);
  });
});

describe('the declared packages', () => {
  it('are those that are loaded from node_modules, and no others', () => {
    const loads = /\bfrom "([^".\n$]+)"|\b(?:import|require|resolve)\("([^".\n$]+)"\)/g;
    const known = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
    const files = readdirSync(path.join(PROJECT, 'dist')).filter((file) => /^index\.js$|\.cjs$/.test(file));
    const loaded = files.flatMap((file) =>
      [...readFileSync(path.join(PROJECT, 'dist', file), 'utf8').matchAll(loads)].map(([, imported, called]) =>
        packageOf((imported ?? called) as string),
      ),
    );
    expect([...new Set(loaded.filter((name) => known.has(name)))].sort()).toEqual(Object.keys(dependencies).sort());
  });
});

describe('where it is installed', () => {
  const node = (...argv: string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, argv, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: path.join(folder, 'cache') },
    });
  const mlld = path.join('node_modules', 'mlld', 'dist', 'mlld.cjs');

  it('the command runs a script, and draws a pipeline', async () => {
    expect(await node(mlld, '--version')).toEqual({ stdout: `${version}\n`, stderr: '' });
    expect(await node(mlld, '-e', 'show "high tide"')).toEqual({ stdout: 'high tide\n', stderr: '' });
    writeFileSync(path.join(folder, 'two.dot'), 'digraph two { start [shape=Mdiamond]; done [shape=Msquare]; start -> done }\n');
    expect((await node(mlld, 'graph', 'render', 'two.dot', '-o', '-')).stdout).toContain('<svg');
  });

  it('a program imports the library, package.json and the grammar for editors', async () => {
    writeFileSync(
      path.join(folder, 'host.mjs'),
      `import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { openMemoryStore, run } from 'mlld';
const require = createRequire(import.meta.url);
console.log(typeof run, typeof openMemoryStore(), require('mlld/package.json').version, require('mlld/mlld.tmLanguage.json').scopeName);
`,
    );
    expect(await node('host.mjs')).toEqual({ stdout: `function object ${version} source.mlld\n`, stderr: '' });
  });

  it.each(['node', ''])('the types of the library resolve, beside those of Node and without: %o', async (types) => {
    writeFileSync(
      path.join(folder, 'host.ts'),
      "import { openMemoryStore, type JournalStore, type RunReport } from 'mlld';\nexport const store: JournalStore = openMemoryStore();\n" +
        'export const statusOf = ({ status }: RunReport): string => status;\n' +
        '// @ts-expect-error a status is no number\nexport const wrong = ({ status }: RunReport): number => status;\n',
    );
    const { stdout } = await node(TSC, '--noEmit', ...STRICT, '--types', types, 'host.ts').catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(stdout).toBe('');
  });
});

/** Leaves out the file inside the package: `ajv/dist/2020.js` is of `ajv`. */
function packageOf(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}
