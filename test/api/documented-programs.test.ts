/**
 * The programs of docs/library.md: compiled as strictly as can be against the packed package, run, and compared with what the document
 * shows.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packPackage, PACKING_MS, STRICT, TSC } from '../support/packed-package.js';
import { PROJECT } from '../support/source-files.js';

const run = promisify(execFile);
const DOCUMENT = readFileSync(path.join(PROJECT, 'docs', 'library.md'), 'utf8');
const COMPILING_MS = 60_000;
const SAVER_LINES_MAX = 200;

interface Program {
  readonly name: string;
  readonly code: string;
  readonly output: string;
}

/** A block of TypeScript that begins with its file name, and the block of text behind it. */
const PROGRAMS: readonly Program[] = [...DOCUMENT.matchAll(/```ts\n(\/\/ (\w+)\.ts\n.*?)```\n+```text\n(.*?)```/gs)].map(
  ([, code = '', name = '', output = '']) => ({ name, code, output }),
);

let folder: string;
beforeAll(() => ({ folder } = packPackage()), PACKING_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the programs of the document', () => {
  it('are five', () => {
    expect(PROGRAMS.map(({ name }) => name)).toEqual(['watch', 'fold', 'saver', 'pipeline', 'durable']);
    const saver = PROGRAMS.find(({ name }) => name === 'saver')?.code ?? '';
    expect(saver.split('\n').length).toBeLessThan(SAVER_LINES_MAX);
  });

  it.each(PROGRAMS)(
    '$name compiles, and shows what the document says',
    async ({ name, code, output }) => {
      writeFileSync(path.join(folder, `${name}.ts`), code);
      const compiled = await run(process.execPath, [TSC, ...STRICT, '--outDir', 'compiled', `${name}.ts`], { cwd: folder }).catch(
        (error: unknown) => error as { readonly stdout: string },
      );
      expect(compiled.stdout).toBe('');
      const project = path.join(folder, 'node_modules', '..', `project-${name}`);
      mkdirSync(project);
      writeFileSync(path.join(project, 'mlld-config.json'), '{}');
      const { stdout } = await run(process.execPath, [path.join(folder, 'compiled', `${name}.js`)], {
        cwd: project,
        env: { PATH: process.env['PATH'], HOME: folder },
      });
      expect(stdout).toBe(output);
    },
    COMPILING_MS,
  );
});
