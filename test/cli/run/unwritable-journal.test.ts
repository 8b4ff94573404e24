/** A journal that can be read and not written: the run reuses what is recorded, says so once, and leaves nothing behind. */
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { projectFolder, runCli, type CliResult } from '../../support/cli.js';

const ASK = 'exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "$MARK:$q" }\n';
const LONG = 'exe llm @tell(q) = sh { echo "$q" >> calls.log; head -c 70000 /dev/zero | tr "\\\\0" x } with { writes: "@root/told.txt" }\n';
const JOB = `${ASK}show @ask("ebb")\nshow @ask("flow")\n`;
const MORE = `${ASK}${LONG}show @ask("ebb")\nshow @ask("slack")\nshow @tell("much").length\n`;

/** Every new file and folder below the journal is refused, as by a file system that is read-only or full. */
const REFUSING = `
const fs = require('node:fs');
const refuse = (name) => { throw Object.assign(new Error(process.env.REFUSE + ': refused'), { code: process.env.REFUSE }); };
const isJournal = (name) => String(name).includes('/.mlld/journal');
const { openSync } = fs;
fs.openSync = (name, flags, ...rest) => (flags === 'wx' && isJournal(name) ? refuse(name) : openSync(name, flags, ...rest));
`;

let cwd: string;
let asked: () => string[];
const mlld = (mark: string, ...argv: string[]): Promise<CliResult> => runCli(argv, { cwd, env: { MARK: mark } });
const refused = (code: string, ...argv: string[]): Promise<CliResult> =>
  runCli(['--journal-wait', '100ms', ...argv], {
    cwd,
    env: { MARK: 'again', REFUSE: code, NODE_OPTIONS: `--require=${path.join(cwd, 'refusing.cjs')}` },
  });

const everything = (): string[] =>
  fs
    .readdirSync(path.join(cwd, '.mlld'), { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(path.join(cwd, '.mlld', name)).isFile())
    .sort()
    .map((name) => `${name} ${fs.statSync(path.join(cwd, '.mlld', name)).size}`);

describe('a journal that can be read and not written', () => {
  beforeEach(async () => {
    cwd = await projectFolder({ 'job.mld': JOB, 'refusing.cjs': REFUSING });
    let seen = 0;
    asked = () => {
      const lines = fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').filter(Boolean);
      return lines.slice(seen, (seen = lines.length));
    };
    await mlld('first', 'job.mld', '--checkpoint');
    asked();
  });

  it.each([
    ['EROFS', 'The project lies on a read-only file system'],
    ['ENOSPC', 'Free some space'],
    ['EACCES', 'permissions'],
  ])('reuses what is there after %s, and pauses before it pays for what it could not record', async (code, hint) => {
    fs.writeFileSync(path.join(cwd, 'job.mld'), MORE);
    const before = everything();
    const { status, stdout, stderr } = await refused(code, 'job.mld', '--checkpoint');
    expect({ status, stdout }).toEqual({ status: 5, stdout: 'first:ebb\n' });
    expect(stderr).toContain('paused: no call is made');
    expect(stderr).toContain(hint);
    expect(stderr).toContain('--resume');
    expect(stderr).toContain('--unrecorded');
    expect(asked()).toEqual([]);
    expect(everything()).toEqual(before);
  });

  it('pauses where a budget is set, although the rest may be asked without a record', async () => {
    fs.writeFileSync(path.join(cwd, 'job.mld'), MORE);
    const { status, stdout, stderr } = await refused('EROFS', 'job.mld', '--checkpoint', '--unrecorded', '--budget', '5calls');
    expect({ status, stdout }).toEqual({ status: 5, stdout: 'first:ebb\n' });
    expect(stderr).toContain('--unrecorded continues without a record where no budget is set\n');
    expect(asked()).toEqual([]);
  });

  it.each([
    ['EROFS', 'The project lies on a read-only file system'],
    ['ENOSPC', 'Free some space'],
    ['EACCES', 'permissions'],
  ])('reuses what is there after %s, asks the rest where that is wanted, and says so once', async (code, hint) => {
    fs.writeFileSync(path.join(cwd, 'job.mld'), MORE);
    const before = everything();
    const { status, stdout, stderr } = await refused(code, 'job.mld', '--checkpoint', '--unrecorded');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'first:ebb\nagain:slack\n70000\n' });
    expect(stderr.match(/the journal can't be written/g)).toHaveLength(1);
    expect(stderr).toContain('results are not recorded');
    expect(stderr).toContain(hint);
    expect(asked()).toEqual(['slack', 'much']);
    expect(everything()).toEqual(before);
    expect(await mlld('later', 'journal', 'verify', 'job')).toMatchObject({ status: 0 });
  });

  it('never stops a script that makes no calls', async () => {
    fs.writeFileSync(path.join(cwd, 'job.mld'), 'show "ebb"\nshow "flow"\n');
    for (const code of ['EROFS', 'ENOSPC', 'EACCES']) {
      const { status, stdout } = await refused(code, 'job.mld', '--checkpoint');
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'ebb\nflow\n' });
    }
  });

  it('reuses no invalidated result in this run', async () => {
    expect((await refused('EROFS', 'job.mld', '--unrecorded', '--resume', '@ask')).stdout).toBe('again:ebb\nagain:flow\n');
    expect((await refused('EROFS', 'job.mld', '--unrecorded', '--fresh')).stdout).toBe('again:ebb\nagain:flow\n');
    expect((await mlld('later', 'job.mld', '--checkpoint')).stdout).toBe('first:ebb\nfirst:flow\n');
  });

  it('is no journal when a file is in its place: everything is executed, with --unrecorded', async () => {
    fs.rmSync(path.join(cwd, '.mlld/journal'), { recursive: true });
    fs.writeFileSync(path.join(cwd, '.mlld/journal'), 'mine');
    const paused = await mlld('again', 'job.mld', '--checkpoint');
    expect(paused).toMatchObject({ status: 5, stdout: '' });
    for (const once of ['ENOTDIR', 'move it away', '.mlld/journal']) expect(paused.stderr.split(once)).toHaveLength(2);
    const { status, stdout, stderr } = await mlld('again', 'job.mld', '--checkpoint', '--unrecorded');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'again:ebb\nagain:flow\n' });
    expect(stderr).toMatch(
      /^warning: the journal can't be written, results are not recorded: .*move it away\.\)\n2 calls: 2 executed, cost unknown, \S+\n$/,
    );
    expect(fs.readFileSync(path.join(cwd, '.mlld/journal'), 'utf8')).toBe('mine');
  });
});
