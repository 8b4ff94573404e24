/** A post-mortem finds the run to explain, and its advice fits what is recorded now. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { PostMortemReport } from '../../../replay/reports/postmortem/postmortem-run.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { call, finished, loop, callKeyOf, runRef, started } from '../../support/written-runs.js';

async function record(cwd: string, number: number, facts: readonly Fact[], start: object = {}): Promise<RunRef> {
  const ref = runRef(number);
  const journal = await openFileStore(cwd).create(ref);
  await journal.append({ ...(started(ref) as Fact & { type: 'run.started' }), argv: ['job.mld'], ...start });
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return ref;
}

async function postMortem(cwd: string, ...argv: readonly string[]): Promise<PostMortemReport | null> {
  return JSON.parse((await callCli(['journal', 'postmortem', ...argv, '--json'], { cwd })).stdout) as PostMortemReport | null;
}

const failing = (number: string): readonly Fact[] => [...call('main/ask#0', number, { outcome: 'failed' }), finished('failed')];

describe('without a name', () => {
  it('says that nothing is recorded in an empty project', async () => {
    const cwd = await projectFolder();
    expect(await callCli(['journal', 'postmortem'], { cwd })).toEqual({ stdout: 'No run is recorded here.\n', stderr: '', status: 0 });
    expect(await postMortem(cwd)).toBeNull();
  });

  it('picks the latest that ended badly, and not one that was resumed to its end since', async () => {
    const cwd = await projectFolder();
    const other = await record(cwd, 1, failing('x'), { payload: { place: 'north' } });
    await record(cwd, 2, failing('y'), { payload: { place: 'south' } });
    await record(cwd, 3, failing('y'), { payload: { place: 'south' } });
    await record(cwd, 4, [...call('main/ask#0', 'y'), finished()], { payload: { place: 'south' } });
    expect(await postMortem(cwd)).toMatchObject({ run: other.run, since: null });
    await record(cwd, 5, [...call('main/ask#0', 'x'), finished()], { payload: { place: 'north' } });
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toBe('Every recorded run completed, or was resumed to its end since.\n');
  });

  it('takes a run that flags gave data of their own as the same: --fresh, and --resume of a script that reads it', async () => {
    const cwd = await projectFolder({
      'llm/run/job.mld': 'exe llm @ask(q) = js { return q }\nshow @ask(`@payload.resume`)\nrun sh { test -e flow -o -e ../../flow }\n',
    });
    const halt = ['--error-behavior', 'halt'];
    expect((await callCli(['run', 'job', '--place', 'north', '--fresh', ...halt], { cwd })).status).toBe(1);
    await writeFile(join(cwd, 'flow'), '');
    expect(await postMortem(cwd)).toMatchObject({ status: 'failed' });
    expect((await callCli(['run', 'job', '--place', 'north', '--resume', '@ask', ...halt], { cwd })).status).toBe(0);
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toBe('Every recorded run completed, or was resumed to its end since.\n');
  });

  it('follows a pipeline through the runs that continue it', async () => {
    const cwd = await projectFolder();
    const pipeline = { pipeline: 'p', argv: ['job.dot'] };
    const first = await record(cwd, 1, [finished('failed')], { ...pipeline, payload: { a: '1' } });
    const second = await record(cwd, 2, [finished('failed')], { ...pipeline, payload: { a: '1' }, resume: { run: first.run, seq: 1 } });
    const alone = await record(cwd, 3, [finished('failed')], { ...pipeline, payload: { a: '2' } });
    expect(await postMortem(cwd)).toMatchObject({ run: alone.run });
    expect(await postMortem(cwd, first.run)).toMatchObject({ since: { run: second.run, status: 'failed' } });
    const last = await record(cwd, 4, [finished()], { ...pipeline, payload: { a: '2' }, resume: { run: alone.run, seq: 1 } });
    expect(await postMortem(cwd)).toMatchObject({ run: second.run });
    expect(await postMortem(cwd, alone.run)).toMatchObject({ since: { run: last.run, status: 'completed' } });
  });

  it('names the failures of a run that completed all the same', async () => {
    const cwd = await projectFolder({
      'job.mld':
        'exe llm @sick(q) = sh { echo no >&2; exit 3 } with { onFailure: "value" }\nvar @b = @sick("x")\nrun sh { exit 4 }\nshow "done"\n',
    });
    expect((await callCli(['job.mld', '--checkpoint'], { cwd })).status).toBe(0);
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    expect(stdout).toContain('job completed');
    expect(stdout).toContain('1 x crash in sick: the call failed (crash), and its function passes on what was printed: no');
    expect(stdout).toContain('1 x exit status of a command: ended with status 4');
    expect(stdout).not.toContain('To continue');
  });
});

describe('advice and estimate', () => {
  const items = ['a', 'b', 'c', 'd'];
  const crashed = loop('main/for#0', items, (item, path) => call(`${path}/ask#0`, item)).slice(0, 1 + 2 * 6);

  it('count what was recorded and invalidated since', async () => {
    const cwd = await projectFolder();
    const { run } = await record(cwd, 1, [...crashed]);
    expect((await postMortem(cwd, run))?.resume).toMatchObject({ reused: 2, unresolved: [], notStarted: 2 });
    await record(cwd, 2, [{ type: 'memo.invalidated', selector: '@ask("a")', keys: [callKeyOf('a')] }, ...call('main/ask#0', 'c')]);
    const report = await postMortem(cwd, run);
    expect(report?.resume).toMatchObject({ reused: 2, unresolved: [{ fn: 'ask', preview: 'a', why: 'invalidated' }], notStarted: 1 });
    expect(report?.since).toEqual({ run: runRef(2).run, status: 'crashed' });
    const { stdout } = await callCli(['journal', 'postmortem', run], { cwd });
    expect(stdout).toContain(`mlld journal postmortem ${runRef(2).run}`);
    expect(stdout).not.toContain('--resume');
    await record(cwd, 3, [...call('main/ask#0', 'a'), finished()]);
    const ended = await callCli(['journal', 'postmortem', run], { cwd });
    expect(ended.stdout).toContain(`Run ${runRef(3).run} has resumed it to its end since`);
    expect(ended.stdout).not.toContain('To continue');
  });

  it('count no call as not started that has a result of the complete run before', async () => {
    const cwd = await projectFolder({ 'job.mld': '' });
    const calls = (list: readonly string[], made: (item: string) => Parameters<typeof call>[2]): Fact[] =>
      loop('main/for#0', list, (item, path) => call(`${path}/ask#0`, item, made(item)));
    const complete: Fact = { type: 'run.finished', status: 'completed', totals: { executed: 4, reused: 0, failed: 0 } };
    await record(cwd, 1, [...calls(items, () => ({})), complete]);
    const edited = calls(['a', 'new', 'c', 'd'], (item) => ({ outcome: item === 'new' ? 'failed' : 'reused' })).slice(0, 12);
    const { run } = await record(cwd, 2, [...edited, finished('paused')]);
    expect((await postMortem(cwd, run))?.resume).toMatchObject({ unresolved: [{ fn: 'ask', preview: 'new' }], notStarted: 0 });
    await callCli(['checkpoint', 'clean', 'job.mld'], { cwd });
    expect((await postMortem(cwd, run))?.resume).toMatchObject({ notStarted: 2 });
  });

  it('count a call again that an edited function was to make, whatever it had made before', async () => {
    const cwd = await projectFolder({ 'job.mld': '' });
    await record(cwd, 1, [...call('main/ask#0', 'a'), ...call('main/ask#1', 'b'), finished()]);
    const flags = { flags: { checkpoint: true, changed: 'ask' } };
    const { run } = await record(cwd, 2, [...call('main/ask#0', 'a'), ...call('main/ask#1', 'b', { outcome: 'killed' })], flags);
    expect((await postMortem(cwd, run))?.resume).toMatchObject({ reused: 1, unresolved: [{ preview: 'b', why: 'in-flight' }] });
  });

  it('say nothing is reused after `clean`', async () => {
    const cwd = await projectFolder({ 'job.mld': '' });
    const { run } = await record(cwd, 1, [...crashed]);
    await callCli(['checkpoint', 'clean', 'job.mld'], { cwd });
    expect((await postMortem(cwd, run))?.resume).toMatchObject({ reused: 0, unresolved: [{ preview: 'a' }, { preview: 'b' }] });
  });

  it('name the checkpoint only while --resume finds it', async () => {
    const cwd = await projectFolder({ 'job.mld': 'checkpoint "half"\nbail "no"\n' });
    const back = 'mlld job.mld --resume half';
    const advice = async (run: string): Promise<string> => (await callCli(['journal', 'postmortem', run], { cwd })).stdout;
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(await advice('job')).toContain(back);
    expect((await callCli(['job.mld', '--resume', 'half'], { cwd })).stderr).toContain('Error: no\n');
    await record(cwd, 2_000_000, [finished('failed')], { payload: { place: 'south' } });
    expect(await advice('job@2')).not.toContain(back);
    await callCli(['checkpoint', 'clean', 'job.mld'], { cwd });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(await advice('job')).toContain(back);
    await callCli(['checkpoint', 'clean', 'job.mld'], { cwd });
    expect(await advice('job')).not.toContain(back);
    expect((await callCli(['job.mld', '--resume', 'half'], { cwd })).stderr).toContain('unknown checkpoint "half"');
  });

  it('name a command that works for a run that no command line started', async () => {
    const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = js { return q }\nshow @ask("x")\n' });
    await record(cwd, 1, failing('x'), { argv: [] });
    const { stdout } = await callCli(['journal', 'postmortem'], { cwd });
    const command = /^ {2}mlld (.*--resume) {2}/m.exec(stdout)?.[1] as string;
    expect(await callCli(command.split(' '), { cwd })).toMatchObject({ stdout: 'x\n', status: 0 });
  });
});
