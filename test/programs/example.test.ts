/** The example of docs/library.md is compiled, killed twice, and continued: the provider is asked for nothing twice that was recorded. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TSC } from '../support/packed-package.js';
import { PROJECT } from '../support/source-files.js';

const run = promisify(execFile);

let folder: string;
let provider: ChildProcess;
let url: string;
const asked: string[] = [];

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-typescript-')));
  cpSync(path.join(PROJECT, 'examples', 'typescript'), folder, { recursive: true });
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(PROJECT, path.join(folder, 'node_modules', 'mlld'));
  symlinkSync(path.join(PROJECT, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'));
  const compiled = await run(process.execPath, [TSC], { cwd: folder }).catch((error: unknown) => error as { readonly stdout: string });
  expect(compiled.stdout).toBe('');
  provider = spawn(process.execPath, ['dist/provider.js'], { cwd: folder, env: { ...process.env, PORT: '0' } });
  url = await new Promise((resolve) => {
    let said = '';
    provider.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const lines = said.split('\n');
      said = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('asked: ')) asked.push(line.slice('asked: '.length));
        else resolve(`http://127.0.0.1:${line.replace(/\D+/, '')}`);
      }
    });
  });
}, 120_000);
afterAll(() => {
  provider?.kill();
  rmSync(folder, { recursive: true, force: true });
});

function start(...berths: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['dist/main.js', ...berths], { cwd: folder, env: { ...process.env, MODEL_URL: url } });
}

async function ended(child: ChildProcess): Promise<string> {
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  return printed;
}

/** The prompts whose results are in the journal. */
function answered(): number {
  const runs = path.join(folder, '.mlld', 'journal', 'berth-audit', 'runs');
  const files = existsSync(runs) ? readdirSync(runs).filter((name) => name.endsWith('.ndjson')) : [];
  return files.flatMap((name) => readFileSync(path.join(runs, name), 'utf8').match(/"type":"call.completed"/g) ?? []).length;
}

it('continues where it was killed', { timeout: 120_000 }, async () => {
  const berths = ['north', 'south', 'quay', 'old pier'];
  for (const enough of [2, 6]) {
    const child = start(...berths);
    const closing = ended(child);
    while (answered() < enough && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await closing;
  }
  const inFlight = 2 * 2; // of each kill
  const printed = await ended(start(...berths));
  expect(printed).toMatch(/^completed \[/m);
  expect(new Set(asked).size).toBe(4 + 8);
  expect(asked.length).toBeLessThanOrEqual(4 + 8 + inFlight);
  const before = asked.length;
  expect(await ended(start(...berths))).toContain('0 executed, 13 reused');
  expect(readFileSync(path.join(folder, 'report.md'), 'utf8').trim().split('\n')).toHaveLength(8);
  expect(await ended(start('new', ...berths))).toContain('4 executed, 12 reused');
  expect(asked.slice(before).filter((prompt) => !prompt.includes('berth new'))).toEqual([]);
});
