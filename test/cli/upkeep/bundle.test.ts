import fs from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Fact } from '../../../journal/event.js';
import type { Workflow } from '../../../journal/ids.js';
import { journalFolder, runPath } from '../../../journal/storage/layout.js';
import { packBundle } from '../../../journal/upkeep/bundle.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, runRef } from '../../support/written-runs.js';

const SECRET = 'tide-token-4711';

/** Records a run with a large result, and one that reuses it. */
async function project(): Promise<string> {
  const cwd = await projectFolder();
  const large = await openFileStore(cwd).payload(`${SECRET} ${'x'.repeat(100_000)}`);
  await recordRun(
    cwd,
    1,
    call('main/ask#0', 'ebb').map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result: large } : fact)),
  );
  const from = { run: runRef(1).run, seq: 3 as never };
  await recordRun(
    cwd,
    2,
    call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact): Fact => (fact.type === 'call.reused' ? { ...fact, from } : fact)),
  );
  return cwd;
}

describe('mlld journal bundle and unbundle', () => {
  it('carry a run to another project, with the run whose results it reused', async () => {
    const cwd = await project();
    const made = await callCli(['journal', 'bundle', 'job@1', '-o', 'run.tgz'], { cwd });
    expect(made).toMatchObject({ status: 0, stdout: '', stderr: expect.stringMatching(/^run\.tgz: 2 runs, 1 blob, /) });
    const there = await projectFolder();
    await fs.copyFile(path.join(cwd, 'run.tgz'), path.join(there, 'run.tgz'));
    const taken = await callCli(['journal', 'unbundle', 'run.tgz'], { cwd: there });
    expect(taken).toMatchObject({ status: 0, stdout: `${runRef(2).run}  job.mld\n${runRef(1).run}  job.mld\n` });
    for (const run of [runRef(1).run, runRef(2).run]) {
      expect(await callCli(['journal', 'verify', run], { cwd: there })).toMatchObject({ status: 0 });
      const shown = await callCli(['journal', 'show', run, '--json'], { cwd: there });
      expect(shown.stdout).toBe((await callCli(['journal', 'show', run, '--json'], { cwd })).stdout);
    }
    const again = await callCli(['journal', 'unbundle', 'run.tgz', '--json'], { cwd: there });
    expect(JSON.parse(again.stdout)).toMatchObject([{ did: 'there' }, { did: 'there' }]);
  });

  it('let no run take the id of another one that is there, under a name that comes before', async () => {
    const cwd = await project();
    const lines = await fs.readFile(runPath(journalFolder(cwd), runRef(1)));
    const forged = { workflow: 'aaa.mld' as Workflow, run: runRef(1).run };
    await fs.writeFile(path.join(cwd, 'forged.tgz'), await packBundle({ runs: [{ ref: forged, lines }], blobs: new Map() }));
    expect(await callCli(['journal', 'unbundle', 'forged.tgz'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`there is another run ${runRef(1).run} of job.mld in this project`),
    });
    expect(await openFileStore(cwd).find(runRef(1).run)).toEqual(runRef(1));
  });

  it('leave out what --redact matches, and only in the bundle', async () => {
    const cwd = await project();
    await callCli(['journal', 'bundle', 'job@1', '-o', 'run.tgz', '--redact', SECRET], { cwd });
    const content = gunzipSync(await fs.readFile(path.join(cwd, 'run.tgz'))).toString('latin1');
    expect(content).not.toContain(SECRET);
    expect(content).toContain('redacted for the bundle');
    const there = await projectFolder();
    expect(await callCli(['journal', 'unbundle', path.join(cwd, 'run.tgz')], { cwd: there })).toMatchObject({ status: 0 });
    expect(await callCli(['journal', 'verify', runRef(1).run], { cwd: there })).toMatchObject({ status: 0 });
    expect((await callCli(['journal', 'verify', runRef(1).run], { cwd })).status).toBe(0);
    const own = await callCli(['journal', 'unbundle', 'run.tgz'], { cwd });
    expect(own).toMatchObject({ status: 1, stderr: expect.stringContaining('another run') });
  });

  it('leave out a line that a crash cut off where something is to be left out: it can not be found in there', async () => {
    const cwd = await project();
    await fs.appendFile(runPath(journalFolder(cwd), runRef(1)), `{"v":1,"seq":9,"cut":"${SECRET}`);
    const bundled = async (...options: string[]): Promise<string> => {
      expect(await callCli(['journal', 'bundle', 'job@1', '-o', 'run.tgz', ...options], { cwd })).toMatchObject({ status: 0 });
      return gunzipSync(await fs.readFile(path.join(cwd, 'run.tgz'))).toString('latin1');
    };
    expect(await bundled()).toContain(`"cut":"${SECRET}`);
    expect(await bundled('--redact', SECRET)).not.toContain(SECRET);
    const there = await projectFolder();
    expect(await callCli(['journal', 'unbundle', path.join(cwd, 'run.tgz')], { cwd: there })).toMatchObject({ status: 0 });
    expect(await callCli(['journal', 'verify', runRef(1).run], { cwd: there })).toMatchObject({ status: 0 });
  });

  it('refuse a damaged run, one that goes on, and what is no bundle', async () => {
    const cwd = await project();
    const file = path.join(cwd, '.mlld/journal/job.mld/runs', `${runRef(1).run}.ndjson`);
    await fs.writeFile(file, (await fs.readFile(file, 'utf8')).replace('"ebb"', '"ebc"'));
    const made = await callCli(['journal', 'bundle', 'job@1', '-o', 'run.tgz'], { cwd });
    expect(made).toMatchObject({ status: 1, stderr: expect.stringContaining('is damaged in the journal') });
    await fs.writeFile(path.join(cwd, 'run.tgz'), 'no bundle');
    const taken = await callCli(['journal', 'unbundle', 'run.tgz'], { cwd });
    expect(taken).toMatchObject({ status: 1, stderr: expect.stringContaining('not a complete bundle') });
    expect(await callCli(['journal', 'unbundle', 'none.tgz'], { cwd })).toMatchObject({ status: 1 });
  });
});
