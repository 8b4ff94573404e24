/** A run that a newer mlld recorded is not taken for a crashed one, is refused by commands that read it, and is never counted. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { RunId } from '../../../journal/ids.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';

let cwd: string;
let newer: RunId;
const journal = (...argv: string[]): Promise<CliResult> => callCli(['journal', ...argv], { cwd });

beforeAll(async () => {
  cwd = await projectFolder();
  await recordRun(cwd, 1);
  await recordCrash(cwd, 2);
  newer = (await recordRun(cwd, 3)).run;
  const file = path.join(cwd, '.mlld/journal/job.mld/runs', `${newer}.ndjson`);
  await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replaceAll('{"v":1,', '{"v":9,'));
});

it('is listed as unreadable, beside the crash, also the second time', async () => {
  for (let time = 0; time < 2; time++) {
    const listed = JSON.parse((await journal('list', '--json')).stdout) as object[];
    expect(listed).toMatchObject([{ run: newer, status: 'unreadable', executed: null }, { status: 'crashed' }, { status: 'completed' }]);
  }
  expect((await journal('list')).stdout).toMatch(/- {2}unreadable +- +- +- +- +- +-\n/);
});

it.each([
  ['show'],
  ['audit'],
  ['explain'],
  ['postmortem'],
  ['report'],
  ['replay'],
  ['export', '--format', 'csv'],
  ['bundle', '-o', 'x.tgz'],
])('journal %s says why it can not look into it', async (command, ...options) => {
  const { status, stdout, stderr } = await journal(command, newer, ...options);
  expect(stderr).toBe(
    `Error: Run ${newer} is in a version of the journal that this program does not know\n  hint: a newer mlld recorded it, and can read it\n`,
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});

it('can not be compared', async () => {
  expect(await journal('diff', 'job@2', 'job')).toMatchObject({ status: 2, stdout: '' });
});

it('is what verify reports, and nothing that stats and postmortem count as a crash', async () => {
  const verified = await journal('verify', newer, '--json');
  expect(verified.status).toBe(1);
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, defects: [{ kind: 'unknown-version', line: 1 }] });
  expect(JSON.parse((await journal('stats', '--json')).stdout)).toMatchObject({ statuses: { completed: 1, crashed: 1 } });
  expect((await journal('postmortem')).stdout).toContain('crashed: the process ended without recording why');
});
