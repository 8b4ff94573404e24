/**
 * SIGKILL at every step of a redaction, then the same command again.
 *
 * REDACTION-KILL-1 the store verifies at any time
 * REDACTION-KILL-2 a reused result is what was recorded, or nothing; once the run's file is rewritten nothing that was removed is reused
 * REDACTION-KILL-3 when the command has been run again, the text is nowhere: not in unfinished files either
 */
import fs from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { loadWorkflow } from '../../replay/memo/load.js';
import { readResult } from '../../replay/memo/read-result.js';
import { usable } from '../../replay/memo/memo.js';
import { verifyRun } from '../../replay/reports/audit/verify.js';
import { projectFolder, runCli, type CliResult } from '../support/cli.js';
import { recordRun } from '../support/recorded-project.js';
import { call, JOB } from '../support/written-runs.js';

const SECRET = 'tide-token-4711';
/** More than an index is worth its while for. */
const CALLS = 300;
const STEPS_MAX = 200;

/** Ends the process before the n-th change of the disk; reports how many there were. */
const KILLING = `
const fs = require('node:fs');
const isJournal = (name) => typeof name === 'number' || String(name).includes('/.mlld/journal');
let left = Number(process.env.STEPS);
const step = (name) => { if (isJournal(name) && left-- === 0) process.kill(process.pid, 'SIGKILL'); };
for (const [owner, names] of [[fs, ['openSync', 'writeSync', 'fdatasync']], [fs.promises, ['rename', 'rm', 'link']]]) {
  for (const name of names) {
    const real = owner[name];
    owner[name] = (first, ...rest) => { if (name !== 'openSync' || rest[0] === 'wx') step(first); return real(first, ...rest); };
  }
}
`;

let original: string;

beforeAll(async () => {
  original = await projectFolder({ 'killing.cjs': KILLING });
  const store = openFileStore(original);
  const { blob } = await store.putBlob(`var @token = "${SECRET}"`);
  const large = await store.payload(`${'x'.repeat(100_000)} ${SECRET}`);
  await recordRun(
    original,
    1,
    [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }],
    ...Array.from({ length: CALLS }, (_, number) => call(`main/ask#${number}`, number % 100 === 50 ? `use ${SECRET}` : `ebb ${number}`)),
    call('main/ask#large', 'large').map((fact) => (fact.type === 'call.completed' ? { ...fact, result: large } : fact)),
  );
  await loadWorkflow(store, JOB, { onDefect: () => undefined });
  expect(await store.readDerived(JOB, 'index')).toBeDefined();
  // Leftovers of writers that were killed before.
  for (const file of globSync('.mlld/journal/**/*', { cwd: original, dot: true, absolute: true })) {
    fs.copyFileSync(file, `${file}.0123456789ab.tmp`);
  }
});

function copy(): string {
  const cwd = fs.mkdtempSync(`${original}-`);
  fs.cpSync(original, cwd, { recursive: true });
  return cwd;
}

const redact = (cwd: string, steps?: number): Promise<CliResult> =>
  runCli(['journal', 'redact', 'job', '--match', SECRET], {
    cwd,
    env: steps === undefined ? {} : { STEPS: String(steps), NODE_OPTIONS: `--require=${path.join(cwd, 'killing.cjs')}` },
  });

function everything(cwd: string): string {
  const files = globSync('.mlld/**/*', { cwd, dot: true, absolute: true });
  return files.map((file) => fs.readFileSync(file, 'latin1')).join('\n');
}

/** Returns the results that a next run would reuse, by their first argument. */
async function served(cwd: string): Promise<ReadonlyMap<string, unknown>> {
  const store = openFileStore(cwd);
  const { memo } = await loadWorkflow(store, JOB, { onDefect: (defect) => expect.unreachable(defect.message) });
  const answers = new Map<string, unknown>();
  for (const [key, { preview, result: answer }] of usable(memo)) {
    const read = await readResult(store, key, answer);
    if (read) answers.set(preview ?? '', read.result.json);
  }
  return answers;
}

async function verify(cwd: string): Promise<void> {
  const store = openFileStore(cwd);
  for (const { ref } of await store.runs(JOB)) expect((await verifyRun(store, ref)).defects).toEqual([]);
}

describe('a redaction that is killed', () => {
  it('leaves a store that verifies and reuses nothing else, and is ended by the same command', { timeout: 300_000 }, async () => {
    const before = await served(original);
    let rewritten = 0;
    let steps = 0;
    for (; steps < STEPS_MAX; steps++) {
      const cwd = copy();
      const { status } = await redact(cwd, steps);
      await verify(cwd); // REDACTION-KILL-1
      const isRewritten =
        fs.readFileSync(runFile(cwd), 'utf8').includes('[redacted]') || !fs.readFileSync(runFile(cwd), 'utf8').includes(SECRET);
      if (isRewritten) rewritten++;
      for (const [question, answer] of await served(cwd)) {
        if (question.includes('ebb')) expect(answer).toBe(before.get(question)); // REDACTION-KILL-2
        if (isRewritten) expect(`${question} ${JSON.stringify(answer)}`).not.toContain(SECRET);
      }
      expect((await redact(cwd)).status).toBe(0);
      expect(everything(cwd)).not.toContain(SECRET); // REDACTION-KILL-3
      await verify(cwd);
      expect([...(await served(cwd)).keys()].filter((question) => question.startsWith('ebb'))).toHaveLength(CALLS - 3);
      fs.rmSync(cwd, { recursive: true });
      if (status === 0) break;
    }
    expect(steps).toBeGreaterThan(20);
    expect(steps).toBeLessThan(STEPS_MAX);
    expect(rewritten).toBeGreaterThan(5);
  });
});

function runFile(cwd: string): string {
  const [file] = globSync('.mlld/journal/job.mld/runs/*.ndjson', { cwd, dot: true, absolute: true });
  return file as string;
}
