import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolders } from '../../journal/storage/make-folders.js';
import { projectFolder, runCli } from '../support/cli.js';

let base: string;
beforeEach(() => (base = fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-folders-'))));

describe('folders', () => {
  it('are made with all that is missing above them, and the first of those is returned', () => {
    expect(makeFolders(path.join(base, 'a/b/c'), 0o700)).toBe(path.join(base, 'a'));
    expect(fs.statSync(path.join(base, 'a/b/c')).mode & 0o777).toBe(0o700);
    expect(makeFolders(path.join(base, 'a/b/d/e'))).toBe(path.join(base, 'a/b/d'));
  });

  it('stay when they are there', () => {
    expect(makeFolders(base)).toBeUndefined();
    expect(makeFolders('/')).toBeUndefined();
  });

  it('are not made in place of a file, nor below one', () => {
    fs.writeFileSync(path.join(base, 'file'), '');
    expect(() => makeFolders(path.join(base, 'file'))).toThrow(/EEXIST/);
    expect(() => makeFolders(path.join(base, 'file/deeper'))).toThrow(/ENOTDIR/);
  });
});

// A folder that exists and refuses to make one in it with ENOENT.
describe.skipIf(!fs.existsSync('/proc/self'))('below /proc', () => {
  it('there is an error and no endless loop', () => {
    expect(() => makeFolders('/proc/.cache/mlld')).toThrow(/ENOENT/);
  });

  it('a home does no harm: a command ends as it would elsewhere', { timeout: 20_000 }, async () => {
    const cwd = await projectFolder({ 'llm/run/job.mld': 'show "done"\n', 'write.mld': 'output "x" to "/proc/none/file"\n' });
    const env = { HOME: '/proc', XDG_CACHE_HOME: '' };
    expect(await runCli(['run', 'job'], { cwd, env })).toMatchObject({ stdout: 'done\n', status: 0 });
    const written = await runCli(['write.mld'], { cwd });
    expect(written.status).toBe(1);
    expect(written.stderr).toContain('write.mld:1:');
  });
});
