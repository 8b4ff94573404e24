/**
 * SIGKILL in the middle of writing the index of a long past, and several processes that write it at once.
 *
 * INDEX-KILL-1 after a kill at any step every result of the past is found, as it was recorded
 * INDEX-KILL-2 the next process leaves an index that equals the fold of the runs
 */
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { globSync } from 'tinyglobby';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import type { CallKey } from '../../journal/ids.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { loadWorkflow } from '../../replay/memo/load.js';
import type { Memo, MemoEntry } from '../../replay/memo/memo.js';
import { index } from '../../replay/memo/snapshot.js';
import { tiersOf } from '../../replay/memo/tiers/changed-rows.js';
import { projectFolder, runCli, type CliResult } from '../support/cli.js';
import { call, finished, JOB, runRef, started } from '../support/written-runs.js';

/** More calls than an index holds without a tier, and as many more that the tier is written anew. */
const [FIRST, MORE] = [16_500, 8_300];

/** Ends the process before the n-th change of an index or a tier, and says how many there were. */
const KILLING = `
const fs = require('node:fs');
const isIndex = (name) => /\\/(index|[0-9a-z]+-[0-9a-f]{8}\\.tier)(\\.[0-9a-f]+\\.tmp)?$/.test(String(name));
const files = new Set();
let done = 0;
const step = () => { if (done++ === Number(process.env.STEPS)) process.kill(process.pid, 'SIGKILL'); };
const { openSync, writeSync, fdatasync, closeSync } = fs;
fs.openSync = (name, flags, ...rest) => {
  const isOurs = flags === 'wx' && isIndex(name);
  if (isOurs) step();
  const file = openSync(name, flags, ...rest);
  if (isOurs) files.add(file);
  return file;
};
fs.writeSync = (file, ...rest) => { if (files.has(file)) step(); return writeSync(file, ...rest); };
fs.fdatasync = (file, ...rest) => { if (files.has(file)) step(); return fdatasync(file, ...rest); };
fs.closeSync = (file) => { files.delete(file); return closeSync(file); };
for (const name of ['rename', 'rm']) {
  const real = fs.promises[name];
  fs.promises[name] = (first, ...rest) => { if (isIndex(first)) step(); return real(first, ...rest); };
}
process.on('exit', () => fs.writeSync(2, 'steps: ' + done));
`;

let first: string;
let grown: string;

beforeAll(async () => {
  first = await projectFolder({ 'killing.cjs': KILLING, 'job.mld': 'show "nothing"\n' });
  await record(first, 1, 0, FIRST);
  grown = copy(first);
  await loadWorkflow(openFileStore(grown), JOB, { onDefect: () => undefined });
  expect(tiersIn(grown)).toHaveLength(1);
  await record(grown, 2, FIRST, FIRST + MORE);
}, 120_000);

async function record(cwd: string, number: number, from: number, to: number): Promise<void> {
  const journal = await openFileStore(cwd).create(runRef(number));
  const calls = Array.from({ length: to - from }, (_, at): Fact[] => call(`main/for#0[${from + at}]/ask#0`, `buoy ${from + at}`));
  for (const fact of [started(runRef(number)), ...calls.flat(), finished()]) journal.post(fact);
  await journal.close();
}

function copy(from: string): string {
  const cwd = fs.mkdtempSync(`${first}-`);
  fs.cpSync(from, cwd, { recursive: true });
  return cwd;
}

const tiersIn = (cwd: string): readonly string[] => globSync('.mlld/journal/job.mld/*.tier', { cwd, dot: true });

const list = (cwd: string, steps = Infinity): Promise<CliResult> =>
  runCli(['checkpoint', 'list', 'job.mld', '--json'], {
    cwd,
    env: { STEPS: String(steps), NODE_OPTIONS: `--require=${path.join(cwd, 'killing.cjs')}` },
  });

type Entries = readonly (readonly [CallKey, MemoEntry])[];

/** Returns the calls by the fold of the runs alone. */
async function folded(cwd: string): Promise<Entries> {
  const store = openFileStore(cwd);
  const state = index.initial();
  for (const { ref } of await store.runs(JOB)) {
    await store.scan(ref, (event, position) => void index.apply(state, event, { ref, position }));
  }
  return [...state.memo.entries];
}

/** INDEX-KILL-1 and INDEX-KILL-2 */
async function expectWhole(cwd: string, expected: Entries): Promise<void> {
  const load = () => loadWorkflow(openFileStore(cwd), JOB, { onDefect: ({ message }) => expect.unreachable(message) });
  expectEntries((await load()).memo, expected);
  const { memo } = await load();
  expect(tiersOf(memo)).toBeDefined();
  expectEntries(memo, expected);
}

/** `toEqual` takes seconds for so many entries, and says where they differ. */
function expectEntries({ entries }: Memo, expected: Entries): void {
  if (!isDeepStrictEqual([...entries], expected)) expect([...entries]).toEqual(expected);
}

describe.each([
  ['makes it', () => first, FIRST],
  ['adds to it', () => grown, FIRST + MORE],
])('a process that is killed while it %s', (_what, original, calls) => {
  it('leaves every result to the next', { timeout: 300_000 }, async () => {
    const whole = copy(original());
    const { stderr, status } = await list(whole);
    expect(status).toBe(0);
    const steps = Number(/steps: (\d+)/.exec(stderr)?.[1]);
    expect(steps).toBeGreaterThan(100);
    const expected = await folded(whole);
    expect(expected.filter(([, { result }]) => result !== undefined)).toHaveLength(calls);
    await expectWhole(whole, expected);
    fs.rmSync(whole, { recursive: true });
    // In the middle of the tier, before its sync and its rename, and the same of the index that names it.
    for (const step of [Math.floor(steps / 2), steps - 6, steps - 5, steps - 4, steps - 2, steps - 1]) {
      const cwd = copy(original());
      expect((await list(cwd, step)).status).toBeUndefined();
      await expectWhole(cwd, expected);
      fs.rmSync(cwd, { recursive: true });
    }
  });
});

it('is whole after several processes wrote it at once', { timeout: 120_000 }, async () => {
  const cwd = copy(grown);
  const listed = await Promise.all([1, 2, 3].map(() => list(cwd)));
  for (const { status, stdout } of listed) {
    expect(status).toBe(0);
    expect(stdout).toBe(listed[0]?.stdout);
  }
  await expectWhole(cwd, await folded(cwd));
});
