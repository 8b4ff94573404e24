/** A line with members of another type, as another program or version may have written it: no command about runs ends on it. */
import { beforeAll, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Fact } from '../../../journal/event.js';
import { projectFolder } from '../../support/cli.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { everyEvent } from '../support/every-event.js';
import { runRef } from '../../support/written-runs.js';

const [LEFT, RIGHT] = [runRef(1).run, runRef(2).run];
const NUMBER_OF_LINES = everyEvent(2).length - 1; // it crashed: no line says how it ended

let cwd: string;

/** One run is as it should be; of the other one, each line but the first has a number in the place of its first member. */
beforeAll(async () => {
  const script = 'exe llm @ask(q) = js { return "A:" + q; }\nshow @ask("ebb")\n';
  cwd = await projectFolder({ 'job.mld': script, 'other.mld': script });
  const store = openFileStore(cwd);
  for (const number of [1, 2]) {
    const journal = await store.create(runRef(number));
    for (const [index, fact] of everyEvent(number).entries()) {
      if (number === 2 && fact.type === 'run.finished') continue;
      const [first = ''] = Object.keys(fact).filter((member) => member !== 'type');
      journal.post(number === 2 && index > 0 && fact.type !== ('app.tide.level' as string) ? ({ ...fact, [first]: 7 } as Fact) : fact);
    }
    await journal.close();
  }
});

const ODD_LINES = NUMBER_OF_LINES - 2;
const WARNING = `warning: run ${RIGHT}: ${ODD_LINES} lines have members that this version of mlld can't read (the first is line 2: path of source.loaded) and are left out: a newer mlld may read them; see mlld journal verify ${RIGHT}\n`;

it.each([
  ['postmortem', RIGHT],
  ['postmortem', RIGHT, '--json'],
  ['stats'],
  ['stats', '--json'],
  ['diff', LEFT, RIGHT],
  ['diff', LEFT, RIGHT, '--json'],
  ['diff', LEFT, RIGHT, '--fork-point'],
  ['explain', RIGHT],
  ['show', RIGHT],
  ['show', RIGHT, '--full'],
  ['list'],
  ['list', '--json'],
  ['report', RIGHT, '--json'],
  ['report', '--script', 'job', '--json'],
  ['audit', RIGHT, '--file', 'out.md'],
  ['export', RIGHT, '--format', 'csv'],
])('mlld journal %s %s %s %s says once that lines are left out', async (...argv) => {
  const { stderr, status, stdout } = await callCli(['journal', ...argv], { cwd });
  expect(stderr).toBe(WARNING);
  expect(status).toBe(argv[0] === 'diff' ? 1 : 0);
  if (argv.includes('--json')) expect(() => JSON.parse(stdout) as unknown).not.toThrow();
});

it('mlld journal audit has it where the damage of a run is', async () => {
  const { stdout, status } = await callCli(['journal', 'audit', RIGHT, '--json'], { cwd });
  const { integrity } = JSON.parse(stdout) as { readonly integrity: { readonly defects: readonly { readonly kind: string }[] } };
  expect(integrity.defects.filter(({ kind }) => kind === 'unknown-members')).toHaveLength(1);
  expect(status).toBe(1);
  expect((await callCli(['journal', 'audit', RIGHT], { cwd })).stdout).toContain(`${ODD_LINES} lines have members`);
});

it('mlld journal show --json prints each line as it is', async () => {
  const { stdout, stderr, status } = await callCli(['journal', 'show', RIGHT, '--json'], { cwd });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(NUMBER_OF_LINES);
  expect(JSON.parse(lines[1]!)).toMatchObject({ type: 'source.loaded', path: 7 });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});

it('names filters that match nothing, whatever the lines hold', async () => {
  const { stderr } = await callCli(['journal', 'show', RIGHT, '--op', 'main/aks#0'], { cwd });
  expect(stderr).toContain('matches --op main/aks#0');
  expect(stderr).not.toContain('INTERNAL');
});

it('a start that goes on from the run, and a fork of it, are as before', async () => {
  for (const argv of [
    ['other.mld', '--fork', `job@${RIGHT}`],
    ['job.mld', '--checkpoint'],
    ['job.mld', '--resume'],
  ])
    expect(await callCli(argv, { cwd })).toMatchObject({ stdout: 'A:ebb\n', status: 0 });
});
