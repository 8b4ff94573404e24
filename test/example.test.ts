/** The example does what its README promises, here over three small files whose findings are known. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';

import { projectFolder, runCli, type CliResult } from './support/cli.js';
import { PROJECT } from './support/source-files.js';

const SOURCES = {
  'src/tidy.ts': '/** Adds. */\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n',
  'src/loose.ts': `// ${['TO', 'DO'].join('')} name the unit\nexport const width = 3 as any;\n`,
  'journal/deep.ts': `${['', '  ', '    ', '      ', '        ', '          '].map((indent) => `${indent}if (x) {`).join('\n')}\n`,
};

let cwd: string;

beforeEach(async () => {
  const repository = await projectFolder(SOURCES);
  cwd = join(repository, 'examples', 'repo-review');
  cpSync(join(PROJECT, 'examples', 'repo-review'), cwd, { recursive: true, filter: (path) => !/\/(\.mlld|out)$/.test(path) });
});

function review(...flags: string[]): Promise<CliResult> {
  return runCli(['run', 'repo-review', ...flags], { cwd });
}

async function executed(): Promise<number | undefined> {
  const { stdout } = await runCli(['journal', 'list', '--json'], { cwd });
  return (JSON.parse(stdout) as { executed: number }[])[0]?.executed;
}

it('reviews files, folders and the whole, and writes a report and its findings', async () => {
  const { stdout, status } = await review('--checkpoint');
  expect(status).toBe(0);
  expect(stdout).toContain('reviewed 3 of 3 files in 2 folders: 3 findings, 1 of them major, 0 files not read');
  const findings = readFileSync(join(cwd, 'out', 'findings.jsonl'), 'utf8')
    .trim()
    .split('\n');
  expect(findings.map((line) => JSON.parse(line) as object)).toMatchObject([
    { path: 'journal/deep.ts', line: 6, severity: 'major', kind: 'deep nesting' },
    { path: 'src/loose.ts', line: 1, severity: 'minor', kind: 'open task' },
    { path: 'src/loose.ts', line: 2, severity: 'minor', kind: 'loose type' },
  ]);
  expect(readFileSync(join(cwd, 'out', 'report.md'), 'utf8')).toContain('| src | 2 | 2 | most is in src/loose.ts (2) |');
});

it('asks again only what it must', async () => {
  await review('--checkpoint');
  expect(await executed()).toBe(6); // three files, two folders, one report
  await review('--checkpoint');
  expect(await executed()).toBe(0);
  await review('--resume', '@compare');
  expect(await executed()).toBe(2);
  await review('--resume', 'files reviewed');
  expect(await executed()).toBe(3);
  await review('--resume', '@review("src/loose")');
  expect(await executed()).toBe(2); // and src/tidy.ts, which comes behind
  writeFileSync(join(cwd, '..', '..', 'src', 'tidy.ts'), 'export function add() {}\n');
  await review('--checkpoint');
  expect(await executed()).toBe(3); // the file, its folder, the report
});

it('ends with the words of a model program that fails, and does not remember them', async () => {
  const programs = join(cwd, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'claude'), '#!/bin/sh\necho "rate limited" >&2\nexit 1\n', { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  const failed = await runCli(['run', 'repo-review', '--checkpoint', '--model', 'claude'], { cwd, env });
  expect(failed.status).toBe(1);
  expect(failed.stderr).toMatch(/@\w+\(.*\) failed: crash: rate limited/);
  writeFileSync(join(programs, 'claude'), '#!/bin/sh\ncat > /dev/null\necho \'{"summary": "fine", "findings": [], "patterns": []}\'\n', {
    mode: 0o755,
  });
  const repaired = await runCli(['run', 'repo-review', '--checkpoint', '--model', 'claude'], { cwd, env });
  expect(repaired.stdout).toContain('reviewed 3 of 3 files in 2 folders: 0 findings');
  expect(await executed()).toBe(6);
});

it('refuses a model that it does not know', async () => {
  const { status, stderr } = await review('--model', 'oracle');
  expect(status).toBe(1);
  expect(stderr).toContain('stand-in, claude');
});
