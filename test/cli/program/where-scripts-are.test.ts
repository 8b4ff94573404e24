/** A script has one record, by whichever name or path and from whichever folder it is run. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const ASK = 'exe llm @ask(q) = cmd { echo "answer to @q" }\nshow @ask("ebb")\n';

/** Lists the folders of recorded runs, relative to `folder`. */
function journalsIn(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => path.basename(name) === '.mlld').map((name) => path.dirname(name));
}

async function markerless(files: { readonly [name: string]: string }): Promise<string> {
  const folder = await projectFolder(files);
  fs.rmSync(path.join(folder, 'mlld-config.json'));
  fs.mkdirSync(path.join(folder, 'deep/er'), { recursive: true });
  return folder;
}

describe('a path that begins with a dot', () => {
  it('is read from the working directory by every command that names a script', async () => {
    const root = await projectFolder({ 'east/tide.mld': ASK, 'west/tide.mld': `${ASK}show @ask("flow")\n`, 'docs/x': '' });
    await callCli(['east/tide.mld', '--checkpoint'], { cwd: root });
    await callCli(['west/tide.mld', '--checkpoint'], { cwd: root });
    const [west, docs] = [path.join(root, 'west'), path.join(root, 'docs')];
    for (const [cwd, ...command] of [
      [west, 'journal', 'list', './tide.mld', '--json'],
      [west, 'journal', 'show', './tide.mld@1', '--json'],
      [docs, 'journal', 'stats', '../west/tide.mld', '--json'],
      [docs, 'journal', 'explain', '../west/tide', '--json'],
      [docs, 'checkpoint', 'inspect', '../west/tide.mld'],
    ] as const) {
      const { status, stdout, stderr } = await callCli(command, { cwd });
      expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' });
      expect(stdout).not.toContain('east/tide.mld');
    }
    const { stdout } = await callCli(['journal', 'list', './tide.mld', '--json'], { cwd: west });
    expect(JSON.parse(stdout)).toMatchObject([{ workflow: 'west/tide.mld' }]);
    expect((await callCli(['journal', 'list', './tide.mld'], { cwd: docs })).status).toBe(1);
  });

  it('is read from there by --fork as well', async () => {
    const root = await projectFolder({ 'east/tide.mld': ASK, 'west/digest.mld': ASK.replace('answer', 'other answer') });
    await callCli(['east/tide.mld', '--checkpoint'], { cwd: root });
    const forked = await callCli(['digest.mld', '--fork', '../east/tide.mld'], { cwd: path.join(root, 'west') });
    expect(forked).toMatchObject({ stdout: 'answer to ebb\n', status: 0 });
    const elsewhere = await callCli(['digest.mld', '--fork', './tide.mld'], { cwd: path.join(root, 'west') });
    expect(elsewhere.status).toBe(1);
    expect(elsewhere.stderr).toContain('no recorded run of ./tide.mld');
  });
});

describe('without a marker', () => {
  it('a script in llm/run has one record, by name and by path, from any folder of the project', async () => {
    const root = await markerless({ 'llm/run/job.mld': ASK });
    for (const [cwd, command] of [
      ['.', ['run', 'job']],
      ['.', ['llm/run/job.mld']],
      ['llm/run', ['job.mld']],
      ['deep/er', ['run', 'job']],
      ['deep/er', ['../../llm/run/job.mld']],
    ] as const) {
      expect((await callCli([...command, '--checkpoint'], { cwd: path.join(root, cwd) })).status).toBe(0);
    }
    expect(journalsIn(root)).toEqual(['.']);
    const { stdout } = await callCli(['journal', 'list', 'job', '--json'], { cwd: path.join(root, 'deep/er') });
    expect((JSON.parse(stdout) as { executed: number; reused: number }[]).map(({ executed, reused }) => [executed, reused])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
      [0, 1],
      [1, 0],
    ]);
  });

  it('the record of any other script lies beside it', async () => {
    const root = await markerless({ 'jobs/job.mld': ASK });
    await callCli(['jobs/job.mld', '--checkpoint'], { cwd: root });
    expect(journalsIn(root)).toEqual(['jobs']);
  });
});

describe('a path that leads nowhere', () => {
  it('is relative to its own file, wherever the command was started', async () => {
    const cwd = await projectFolder({ 'jobs/letter.mld': 'exe @l(n) = template "./nope.att"\nshow @l("x")\n' });
    const [above, beside] = [await callCli(['jobs/letter.mld'], { cwd }), await callCli(['letter.mld'], { cwd: path.join(cwd, 'jobs') })];
    expect(above.stderr).toContain('hint: the path is relative to the folder of jobs/letter.mld\n');
    expect(beside.stderr).toContain('hint: the path is relative to the folder of letter.mld\n');
    const inline = await callCli(['-e', 'show <./nope.txt>'], { cwd });
    expect(inline.stderr).toContain('hint: the path is relative to the working directory\n');
  });

  it('is relative to the working directory on the command line', async () => {
    const cwd = await projectFolder();
    expect((await callCli(['gone/x.mld'], { cwd })).stderr).toContain(`hint: paths are relative to ${cwd};`);
  });
});
