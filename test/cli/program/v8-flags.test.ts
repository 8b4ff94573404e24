/** V8 prints a line for a flag that it doesn't know; a command is tuned without anyone seeing it, whichever Node runs it. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { v8FlagsFor } from '../../../cli/v8-flags.js';
import { projectFolder, runCli } from '../../support/cli.js';

/** `--no-x` sets `--x`. */
const nameOf = (flag: string): string => flag.replace(/^--(no-)?/, '').replace(/=.*/, '');

describe('the flags of V8', () => {
  it('are known to the V8 that runs', () => {
    const listed = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    const known = new Set([...listed.matchAll(/^ {2}--([\w-]+) /gm)].map(([, name]) => name));
    const { first, later } = v8FlagsFor(process.versions.v8);
    expect(first).not.toEqual([]);
    expect([...first, ...later].map(nameOf).filter((name) => !known.has(name))).toEqual([]);
  });

  it('are none for a V8 that was not tried yet', () => {
    expect(v8FlagsFor('15.0.1.2-node.3')).toEqual({ first: [], later: [] });
    expect(v8FlagsFor('')).toEqual({ first: [], later: [] });
  });

  it.each(['12.4.254.21-node.57', '13.6.233.17-node.53', '14.6.202.34-node.34'])('hold no interrupt budget for %s', (version) => {
    const { first, later } = v8FlagsFor(version);
    expect(first.length).toBeGreaterThan(0);
    expect([...first, ...later].filter((flag) => flag.includes('interrupt-budget'))).toEqual([]);
  });

  it.each([
    ['11.3.244.8-node.38', false],
    ['12.4.254.21-node.57', false],
    ['13.6.233.17-node.53', true],
    ['14.6.202.34-node.34', true],
  ])('keep a thread of V8 from waiting for the main thread at the exit: %s', (version, isNeeded) => {
    expect(v8FlagsFor(version).first.includes('--no-concurrent-sparkplug')).toBe(isNeeded);
  });

  it('leave stderr empty at the start, when the code cache is written, and after two seconds', async () => {
    const cwd = await projectFolder({ 'wait.mld': 'exe @wait() = sh { sleep 2.5; echo done }\nshow @wait()\n' });
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const done = { stdout: 'done\n', stderr: '', status: 0 };
    expect(await runCli(['wait.mld'], { cwd, env })).toEqual(done);
    expect(await runCli(['wait.mld'], { cwd, env })).toEqual(done);
  });
});
