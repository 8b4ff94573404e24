/** `mlld run NAME` without a flag records what it paid for; `mlld FILE` and `-e` do with a flag, and say so when it is lost. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, resultOf, startCli, type CliResult } from '../../support/cli.js';

const ASK = 'exe llm @ask(q) = sh { echo "$q" >> "$CALLS"; echo "$(wc -l < "$CALLS" | tr -d " "):$q" }\n';
const JOB = `${ASK}show @ask("ebb")\nshow @ask("flow")\nshow @ask("ebb")\nif @payload.die [ bail "no tide" ]\n`;
const WAITING = `${ASK}show @ask("ebb")\nrun sh { touch "$CALLS.ready"; sleep 30 }\n`;

interface Fixture {
  readonly cwd: string;
  readonly mlld: (...argv: string[]) => Promise<CliResult>;
  readonly executed: () => string[];
  readonly runs: () => string[];
}

async function project(files: { readonly [name: string]: string } = {}): Promise<Fixture> {
  const cwd = await projectFolder({ 'llm/run/job.mld': JOB, ...files });
  const calls = path.join(cwd, 'calls.log');
  const journal = path.join(cwd, '.mlld/journal');
  return {
    cwd,
    mlld: (...argv) => callCli(argv, { cwd, env: { CALLS: calls } }),
    executed: () => (fs.existsSync(calls) ? fs.readFileSync(calls, 'utf8').split('\n').filter(Boolean) : []),
    runs: () =>
      fs.existsSync(journal)
        ? fs.readdirSync(journal, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ndjson'))
        : [],
  };
}

describe('mlld run NAME without a flag', () => {
  it('records, and executes every call, also the second identical one', async () => {
    const { mlld, executed, runs } = await project();
    expect((await mlld('run', 'job')).stdout).toBe('1:ebb\n2:flow\n3:ebb\n');
    expect((await mlld('run', 'job')).stdout).toBe('4:ebb\n5:flow\n6:ebb\n');
    expect(executed()).toHaveLength(6);
    expect(runs()).toHaveLength(2);
  });

  it('can be resumed when it fails: of identical calls the later result counts', async () => {
    const { mlld, executed } = await project();
    const failed = await mlld('run', 'job', '--die');
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('next: mlld run job --die --resume\n');
    expect(failed.stderr).not.toContain('not recorded');
    for (const flag of ['--resume', '--checkpoint']) expect((await mlld('run', 'job', flag)).stdout).toBe('3:ebb\n2:flow\n3:ebb\n');
    expect(executed()).toHaveLength(3);
  });

  it('gives its results to a fork', async () => {
    const { mlld } = await project({ 'llm/run/other.mld': `${ASK}show @ask("flow")\n` });
    await mlld('run', 'job');
    expect((await mlld('run', 'other', '--fork', 'job')).stdout).toBe('2:flow\n');
  });

  it('executes identical calls that are in flight at the same time', async () => {
    const { mlld, executed } = await project({
      'llm/run/many.mld': `${ASK}var @r = for parallel(4) @i in [1, 2, 3, 4] => @ask("ebb")\nshow @r.length\n`,
    });
    expect((await mlld('run', 'many')).stdout).toBe('4\n');
    expect(executed()).toEqual(['ebb', 'ebb', 'ebb', 'ebb']);
    const { status, stdout, stderr } = await mlld('journal', 'replay', 'latest');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '4\n' });
    expect(stderr).toMatch(/^same:/);
  });

  it('says why nothing was reused, and replays', async () => {
    const { mlld } = await project();
    await mlld('run', 'job');
    await mlld('run', 'job');
    const { calls } = JSON.parse((await mlld('journal', 'explain', 'latest', '--json')).stdout) as { calls: { miss: { why: string } }[] };
    expect(calls.map(({ miss }) => miss.why)).toEqual(['off', 'off', 'off']);
    const { status, stdout } = await mlld('journal', 'replay', 'latest');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '4:ebb\n5:flow\n6:ebb\n' });
  });

  it('replays calls that wrote their declared files', async () => {
    const { mlld } = await project({
      'llm/run/files.mld':
        'exe llm @tell(q) = sh { echo "$q" > "${CALLS%/*}/told.txt"; echo ok } with { writes: "@root/told.txt" }\nshow @tell("a")\nshow @tell("a")\n',
    });
    expect((await mlld('run', 'files')).stdout).toBe('ok\nok\n');
    expect((await mlld('journal', 'replay', 'latest')).stderr).toMatch(/^same:/);
  });

  it.each([
    ['--no-checkpoint', {}, ['--no-checkpoint']],
    ['"record": false', { 'mlld-config.json': '{"record": false}' }, []],
    ['resume: never', { 'llm/run/job.mld': `resume: never\n${JOB}` }, []],
  ])('records nothing with %s', async (_, files, flags) => {
    const { mlld, executed, runs } = await project(files);
    expect(await mlld('run', 'job', ...flags)).toMatchObject({ status: 0, stdout: '1:ebb\n2:flow\n3:ebb\n' });
    expect(runs()).toEqual([]);
    expect(executed()).toHaveLength(3);
  });

  it('records with --checkpoint also where the configuration says "record": false', async () => {
    const { mlld, executed } = await project({ 'mlld-config.json': '{"record": false}' });
    for (const _ of [1, 2]) expect((await mlld('run', 'job', '--checkpoint')).stdout).toBe('1:ebb\n2:flow\n1:ebb\n');
    expect(executed()).toHaveLength(2);
  });

  it('makes no call where nothing can be recorded, and says how to make it all the same', async () => {
    const { mlld, cwd, executed } = await project();
    fs.mkdirSync(path.join(cwd, '.mlld'));
    fs.writeFileSync(path.join(cwd, '.mlld/journal'), 'mine');
    const { status, stdout, stderr } = await mlld('run', 'job');
    expect({ status, stdout }).toEqual({ status: 5, stdout: '' });
    expect(stderr).toContain('--unrecorded');
    expect(executed()).toEqual([]);
    for (const option of ['--unrecorded', '--no-checkpoint']) {
      expect(await mlld('run', 'job', option)).toMatchObject({ status: 0, stdout: expect.stringContaining(':flow') });
    }
    expect(executed()).toHaveLength(6);
  });

  it('plans for --checkpoint', async () => {
    const { mlld } = await project();
    await mlld('run', 'job');
    const { flags, usable, again } = JSON.parse((await mlld('run', 'job', '--plan', '--json')).stdout) as Record<string, unknown>;
    expect({ flags, usable, again }).toEqual({ flags: { checkpoint: true }, usable: 2, again: 0 });
  });
});

describe('a run that recorded nothing and made calls', () => {
  it('says last how to have its results kept', async () => {
    const { mlld, runs } = await project();
    const { stderr, status } = await mlld('llm/run/job.mld', '--die', '--', '--topic', 'low tide');
    expect(status).toBe(1);
    expect(stderr).toMatch(/\n3 calls: 3 executed, cost unknown, \S+\nnothing was recorded; --checkpoint keeps the results\n$/);
    expect(runs()).toEqual([]);
  });

  it('says for -e that a file is needed', async () => {
    const { mlld } = await project();
    const { stderr } = await mlld('-e', `${ASK}show @ask("a")\nbail "no"`);
    expect(stderr).toMatch(/\nnothing was recorded; of a script in a file, --checkpoint keeps the results\n$/);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('says so after %s', async (signal) => {
    const { cwd } = await project({ 'job.mld': WAITING });
    const calls = path.join(cwd, 'calls.log');
    const child = startCli(['job.mld'], { cwd, env: { CALLS: calls } });
    child.stdin.end();
    const ended = resultOf(child);
    while (!fs.existsSync(`${calls}.ready`)) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill(signal);
    expect((await ended).stderr).toMatch(/\nnothing was recorded; --checkpoint keeps the results\n$/);
  });

  it('says nothing without calls, or with --no-checkpoint', async () => {
    const { mlld } = await project({ 'plain.mld': 'bail "no"\n', 'never.mld': `resume: never\n${JOB}` });
    const runs = [['plain.mld'], ['llm/run/job.mld', '--die', '--no-checkpoint'], ['never.mld', '--die']];
    for (const argv of runs) expect((await mlld(...argv)).stderr).not.toContain('nothing was recorded');
  });
});
