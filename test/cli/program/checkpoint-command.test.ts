import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, callKeyOf } from '../../support/written-runs.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';

const folderOf = async () => projectFolder({ 'job.mld': 'show "not run"\n' });

describe('mlld checkpoint', () => {
  it('lists usable results in the order of first asking', async () => {
    const cwd = await folderOf();
    await recordRun(cwd, 1, call('main/ask#0', 'ebb tide'), call('main/plan#0', { port: 'Oban', berth: 4 }, { fn: 'plan' }));
    await recordCrash(cwd, 2, call('main/ask#0', 12), call('main/ask#1', 'lost', { outcome: 'killed' }), call('main/ask#2', 'ebb tide'));
    expect(await callCli(['checkpoint', 'list', 'job'], { cwd })).toEqual({
      stdout: 'Checkpoint entries for job:\n- ask | ebb tide\n- plan | {"berth":4,"port":"Oban"}\n- ask | 12\nTotal: 3\n',
      stderr: '',
      status: 0,
    });
  });

  it('lists questions whose arguments are too long for an event by their first words, which a prefix finds', async () => {
    const body = '= node { require("fs").appendFileSync("calls.log", q.slice(0, 3) + "\\n"); return q.length }';
    const long = 'var @long = js { return "ebb " + "x".repeat(70000) }';
    const cwd = await projectFolder({ 'long.mld': `exe llm @ask(q) ${body}\n${long}\nshow @ask("flow")\nshow @ask(@long)\n` });
    await callCli(['long.mld', '--checkpoint'], { cwd });
    const { stdout } = await callCli(['checkpoint', 'list', 'long'], { cwd });
    expect(stdout).toBe(`Checkpoint entries for long:\n- ask | flow\n- ask | ebb ${'x'.repeat(153)}...\nTotal: 2\n`);
    expect((await callCli(['long.mld', '--resume', '@ask("ebb x")'], { cwd })).stdout).toBe('4\n70004\n');
    expect(fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8')).toBe('flo\nebb\nebb\n');
  });

  it('inspects runs and entries as JSON', async () => {
    const cwd = await folderOf();
    const first = await recordRun(
      cwd,
      1,
      call('main/ask#0', 'ebb', { site: 'job.mld:2:1' }),
      call('main/ask#1', 'flow', { site: 'job.mld:9:1' }),
      [{ type: 'checkpoint.reached', name: 'collected' }],
    );
    const crashed = await recordCrash(cwd, 2);
    const { stdout, status } = await callCli(['checkpoint', 'inspect', 'job.mld'], { cwd });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      script: 'job',
      path: 'job.mld',
      runs: [
        { id: first.run, outcome: 'completed', flags: { checkpoint: true }, checkpoints: ['collected'], executed: 2 },
        { id: crashed.run, outcome: 'crashed', checkpoints: [] },
      ],
      entries: [
        { key: callKeyOf('ebb'), fn: 'ask', args: 'ebb', site: 0, durationMs: 5, run: first.run },
        { key: callKeyOf('flow'), fn: 'ask', args: 'flow', site: 1, durationMs: 5, run: first.run },
      ],
    });
  });

  it('cleans by a run that says so, and deletes nothing', async () => {
    const cwd = await folderOf();
    const first = await recordRun(cwd, 1, call('main/ask#0', 'ebb'));
    expect((await callCli(['checkpoint', 'clean', 'job.mld'], { cwd })).stdout).toBe('Cleared checkpoint cache for "job".\n');
    expect((await callCli(['checkpoint', 'list', 'job'], { cwd })).stdout).toBe('No checkpoint entries found for "job".\n');
    expect((await callCli(['checkpoint', 'clean', 'job'], { cwd })).stdout).toBe('No checkpoint cache found for "job".\n');
    expect((await callCli(['journal', 'show', first.run, '--type', 'call.completed'], { cwd })).stdout).toContain('A:"ebb"');
    const { stdout: listed } = await callCli(['journal', 'list', 'job', '--json'], { cwd });
    const runs = JSON.parse(listed) as { run: string; status: string }[];
    expect(runs.map(({ status }) => status)).toEqual(['cleaned', 'completed']);
    const cleaning = await callCli(['journal', 'show', runs[0]?.run ?? '', '--json'], { cwd });
    expect(
      cleaning.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toEqual(['run.started', 'memo.reset', 'run.finished']);
    expect((await callCli(['journal', 'verify', runs[0]?.run ?? ''], { cwd })).status).toBe(0);
  });

  it('does not count as a run of the script when it cleans', async () => {
    const cwd = await folderOf();
    const [first, second] = [await recordRun(cwd, 1, call('main/ask#0', 'ebb')), await recordRun(cwd, 2, call('main/ask#0', 'flow'))];
    await callCli(['checkpoint', 'clean', 'job'], { cwd });
    for (const [named, { run }] of [
      ['latest', second],
      ['job', second],
      ['job@1', second],
      ['job@2', first],
    ] as const) {
      expect((await callCli(['journal', 'verify', named], { cwd })).stdout).toContain(run);
    }
    expect((await callCli(['journal', 'show', 'job@3'], { cwd })).stderr).toContain('2 runs are recorded');
    expect(JSON.parse((await callCli(['journal', 'stats', 'job', '--json'], { cwd })).stdout)).toMatchObject({ total: { runs: 2 } });
  });

  it.each([
    [['checkpoint'], 'script'],
    [['checkpoint', 'list'], 'script'],
    [['checkpoint', 'polish', 'job'], 'polish'],
    [['checkpoint', 'list', 'job', '--lots'], '--lots'],
  ])('refuses %j', async (argv, word) => {
    const { stdout, stderr, status } = await callCli(argv, { cwd: await folderOf() });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain(word);
  });
});
