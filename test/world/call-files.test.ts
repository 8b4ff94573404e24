import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import { putBack, readUpTo, staysIn, stateOf, type FileState } from '../../src/world/files/call-files.js';

let folder: string;
const at = (...names: string[]): string => path.join(folder, ...names);

/** As a pipe that a model's program left behind. */
function makePipe(): void {
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', at('pipe')]);
}

beforeEach(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-files-')));
  fs.writeFileSync(at('a.txt'), 'ebb');
});

describe('the state of a file', () => {
  it('is another one after each write, also one of the same size that keeps the time of the file', async () => {
    const before = (await stateOf(at('a.txt'))) as FileState;
    const { mtime } = fs.statSync(at('a.txt'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    fs.writeFileSync(at('a.txt'), 'low');
    fs.utimesSync(at('a.txt'), mtime, mtime);
    expect(((await stateOf(at('a.txt'))) as FileState).stamp).not.toBe(before.stamp);
  });

  it('is the same as long as the file is only read', async () => {
    const before = await stateOf(at('a.txt'));
    fs.readFileSync(at('a.txt'));
    expect((await stateOf(at('a.txt'))) as FileState).toMatchObject({ stamp: (before as FileState).stamp, bytes: 3 });
  });

  it('has the permission bits and nothing else of the mode', async () => {
    fs.chmodSync(at('a.txt'), 0o4751);
    expect(await stateOf(at('a.txt'))).toMatchObject({ mode: 0o751 });
  });

  it('is that of regular files only', async () => {
    fs.symlinkSync('a.txt', at('link'));
    makePipe();
    expect([await stateOf(folder), await stateOf(at('link')), await stateOf(at('pipe'))]).toEqual(['other', 'other', 'other']);
    const long = at('x'.repeat(300));
    expect([await stateOf(at('none')), await stateOf(at('a.txt', 'below')), await stateOf(long)]).toEqual(['absent', 'absent', 'absent']);
  });
});

describe('the content of a file', () => {
  it('is read up to a limit', async () => {
    expect([String(await readUpTo(at('a.txt'), 3)), await readUpTo(at('a.txt'), 2)]).toEqual(['ebb', undefined]);
  });

  it('is not read through a link or out of a pipe', async () => {
    fs.symlinkSync('a.txt', at('link'));
    makePipe();
    expect([await readUpTo(at('link'), 9), await readUpTo(at('pipe'), 9), await readUpTo(at('none'), 9)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a path', () => {
  it('stays in the folder when nothing above it leads elsewhere, whether it exists or not', async () => {
    fs.mkdirSync(at('in'));
    fs.symlinkSync('in', at('within'));
    fs.symlinkSync(os.tmpdir(), at('out'));
    fs.symlinkSync('nowhere', at('dangling'));
    const stays = (name: string): Promise<boolean> => staysIn(folder, at(name));
    expect([await stays('a.txt'), await stays('new/deep/x'), await stays('within/x')]).toEqual([true, true, true]);
    fs.mkdirSync(at('in/.git'));
    fs.symlinkSync('in/.git', at('repository'));
    expect([await staysIn(folder, at('repository/hooks/x'), ['.git']), await staysIn(folder, at('within/x'), ['.git'])]).toEqual([
      false,
      true,
    ]);
    expect([await stays('out/x'), await stays('out/new/x'), await staysIn(at('in'), at('a.txt'))]).toEqual([false, false, false]);
  });
});

describe('a file that is restored', () => {
  it('has its content, its mode and its folders', async () => {
    await putBack(at('new', 'deep', 'x.sh'), Buffer.from('echo'), 0o750);
    expect(fs.readFileSync(at('new', 'deep', 'x.sh'), 'utf8')).toBe('echo');
    expect(fs.statSync(at('new', 'deep', 'x.sh')).mode & 0o777).toBe(0o750);
    await putBack(at('a.txt'), Buffer.from('low'), 0o600);
    expect(fs.statSync(at('a.txt')).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is an error where a part of its path is a file', async () => {
    await expect(putBack(at('a.txt', 'x'), Buffer.from(''), 0o600)).rejects.toThrow(/./);
  });
});
