/** Runs with events that this program does not know: what removes or forgets leaves them as they are, and says so. */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, runRef } from '../../support/written-runs.js';

const pinned = (run: RunRef): Fact => ({ type: 'call.pinned', op: 'main', because: { run: run.run, seq: 2 } }) as unknown as Fact;
const fileOf = (cwd: string, { run }: RunRef): string => path.join(cwd, '.mlld/journal/job.mld/runs', `${run}.ndjson`);

/** Records three runs of the same call: the third replaces the others. The second has an unknown fact that refers to the first. */
async function project(): Promise<string> {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = js { return q }\n' });
  await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
  await recordRun(cwd, 2, call('main/ask#0', 'ebb'), [pinned(runRef(1))], call('main/ask#1', 'flow'));
  await recordRun(cwd, 3, call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'));
  await recordRun(cwd, 4, call('main/ask#0', 'neap'));
  return cwd;
}

it.each([[[]], [['--needed']]])('gc %j keeps them and what they name, a line for each', async (options) => {
  const cwd = await project();
  const { stdout } = await callCli(['journal', 'gc', '--keep', '1', ...options], { cwd });
  const lines = stdout.split('\n').filter((line) => line.includes('events that this mlld does not know'));
  const names = lines.map((line) => line.trim().split(' ')[0]);
  expect(names).toHaveLength(2);
  expect(names).toEqual(expect.arrayContaining([runRef(1).run, runRef(2).run]));
  expect([1, 2].every((number) => existsSync(fileOf(cwd, runRef(number))))).toBe(true);
  const report = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', ...options, '--json'], { cwd })).stdout) as { kept: object[] };
  expect(report.kept).toEqual(expect.arrayContaining([{ ref: runRef(2), reason: 'unknown' }]));
});

it('gc keeps a run of a newer version as unknown, also with --needed', async () => {
  const cwd = await project();
  const file = fileOf(cwd, runRef(3));
  await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replaceAll('{"v":1,', '{"v":9,'));
  const report = JSON.parse((await callCli(['journal', 'gc', '--keep', '1', '--needed', '--json'], { cwd })).stdout) as { kept: object[] };
  expect(report.kept).toEqual(expect.arrayContaining([{ ref: runRef(3), reason: 'unknown' }]));
});

it('clean forgets the other runs, keeps their results, and names them', async () => {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = js { return q }\n' });
  await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
  await recordRun(cwd, 2, call('main/ask#0', 'flow'), [pinned(runRef(1))]);
  await recordRun(cwd, 3, call('main/ask#0', 'neap'));
  const { stdout } = await callCli(['checkpoint', 'clean', 'job'], { cwd });
  expect(stdout).toBe(
    `Cleared checkpoint cache for "job".\nLeft run ${runRef(2).run} as it is: it has events that this mlld does not know: call.pinned\n`,
  );
  expect((await callCli(['checkpoint', 'list', 'job'], { cwd })).stdout).toBe('Checkpoint entries for job:\n- ask | flow\nTotal: 1\n');
  const again = JSON.parse((await callCli(['checkpoint', 'clean', 'job', '--json'], { cwd })).stdout) as object;
  expect(again).toMatchObject({ runs: 0, entries: 0, left: [{ run: runRef(2).run, types: ['call.pinned'] }] });
});
