/** V8 prints a line for a flag that it doesn't know; a command is tuned without anyone seeing it, whichever Node runs it. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { tuneV8, v8FlagsFor } from '../../../cli/v8-flags.js';
import { projectFolder, runCli } from '../../support/cli.js';

/** `--no-x` sets `--x`. */
const nameOf = (flag: string): string => flag.replace(/^--(no-)?/, '').replace(/=.*/, '');

describe('the flags of V8', () => {
  it('are known to the V8 that runs', () => {
    const listed = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    const known = new Set([...listed.matchAll(/^ {2}--([\w-]+) /gm)].map(([, name]) => name));
    const { first, grown, warm, later } = v8FlagsFor(process.versions.v8);
    expect(first).not.toEqual([]);
    expect([...first, ...grown, ...warm, ...later].map(nameOf).filter((name) => !known.has(name))).toEqual([]);
  });

  it('are set back to what the V8 that runs has by itself, so that it takes the code that Node has compiled', () => {
    const { own, first } = v8FlagsFor(process.versions.v8);
    const program = `const { cachedDataVersionTag: tag, setFlagsFromString: set } = require('node:v8');
      const tags = [tag()];
      for (const flags of process.argv.slice(1).map((list) => list.split(' '))) {
        flags.forEach((flag) => set(flag));
        tags.push(tag());
      }
      console.log(tags.join(' '));`;
    const arguments_ = ['-e', program, '--', first.join(' '), own.join(' ')];
    const [before, tuned, after] = execFileSync(process.execPath, arguments_, { encoding: 'utf8' }).trim().split(' ');
    expect(tuned).not.toBe(before);
    expect(after).toBe(before);
  });

  it('are none for a V8 that was not tried yet', () => {
    expect(v8FlagsFor('15.0.1.2-node.3')).toEqual({ own: [], first: [], grown: [], warm: [], later: [] });
    expect(v8FlagsFor('')).toEqual({ own: [], first: [], grown: [], warm: [], later: [] });
  });

  it.each(['12.4.254.21-node.57', '13.6.233.17-node.53', '14.6.202.34-node.34'])('hold no interrupt budget for %s', (version) => {
    const { first, warm, later } = v8FlagsFor(version);
    expect(first.length).toBeGreaterThan(0);
    expect([...first, ...warm, ...later].filter((flag) => flag.includes('interrupt-budget'))).toEqual([]);
  });

  it.each([
    ['11.3.244.8-node.38', false],
    ['12.4.254.21-node.57', false],
    ['13.6.233.17-node.53', true],
    ['14.6.202.34-node.34', true],
  ])('keep a thread of V8 from waiting for the main thread at the exit: %s', (version, isNeeded) => {
    expect(v8FlagsFor(version).first.includes('--no-concurrent-sparkplug')).toBe(isNeeded);
  });

  it('leave stderr empty at the start, when the code cache is written, and while a command waits', async () => {
    const cwd = await projectFolder({ 'wait.mld': 'exe @wait() = sh { sleep 1.5; echo done }\nshow @wait()\n' });
    const env = { XDG_CACHE_HOME: path.join(cwd, 'cache') };
    const done = { stdout: 'done\n', stderr: '', status: 0 };
    expect(await runCli(['wait.mld'], { cwd, env })).toEqual(done);
    expect(await runCli(['wait.mld'], { cwd, env })).toEqual(done);
  });
});

const plainRequire = createRequire(import.meta.url);
const MB = 2 ** 20;
const GROWTH = '--semi-space-growth-factor';
const V8_OF_NODE_20 = '11.3.244.8-node.38';

/** Stands in for `node:v8`: has the value of each flag, and a space of young objects of the size that a test gives it. */
function standInV8() {
  const flags = new Map<string, string>();
  const young = { space_name: 'new_space', space_used_size: 0, space_available_size: MB, space_size: 0, physical_space_size: 0 };
  return {
    flags,
    young,
    setFlagsFromString: (flag: string) => {
      const [name = '', value = ''] = flag.split('=');
      flags.set(name, value);
    },
    getHeapSpaceStatistics: vi.fn<() => (typeof young)[]>(() => [
      { ...young, space_name: 'old_space', space_available_size: 64 * MB },
      young,
    ]),
  };
}

/** Stands in for `process`: a Node that has used so much processor time. */
class NodeThatHasUsed {
  readonly versions: { readonly v8: string };
  readonly cpuUsage = vi.fn<() => { user: number; system: number }>(() => ({ user: 1000 * this.usedMs - 1000, system: 1000 }));

  constructor(
    v8: string,
    public usedMs: number,
  ) {
    this.versions = { v8 };
  }
}

describe('the tuning for a run that goes on', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const TICKS = '--ticks-before-optimization';
  const INLINED = '--max-inlined-bytecode-size-cumulative';

  it('begins when the command has used processor time, not when it has waited', () => {
    vi.useFakeTimers();
    const [v8, node] = [standInV8(), new NodeThatHasUsed(V8_OF_NODE_20, 100)];
    tuneV8(v8, node).ofStart(() => {});
    vi.advanceTimersByTime(60_000);
    expect(v8.flags.get(TICKS)).toBe('30');
    node.usedMs = 401;
    vi.advanceTimersByTime(300);
    expect(v8.flags.get(TICKS)).toBe('5');
    expect(v8.flags.get(INLINED)).toBe('300');
    node.usedMs = 1501;
    vi.advanceTimersByTime(1100);
    expect(v8.flags.get(INLINED)).toBe('920');
    expect(v8.flags.get(TICKS)).toBe('5');
  });

  it('is looked for at most every 50 ms, and not any more once it has begun', () => {
    vi.useFakeTimers();
    const node = new NodeThatHasUsed(V8_OF_NODE_20, 1499);
    tuneV8(standInV8(), node);
    vi.advanceTimersByTime(1000);
    expect(node.cpuUsage).toHaveBeenCalledTimes(22); // the first look finds it warm
    node.usedMs = 2000;
    vi.advanceTimersByTime(1000);
    expect(node.cpuUsage).toHaveBeenCalledTimes(23);
  });
});

describe('the space of young objects', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('grows to 8 MB, and stays so in a long run', () => {
    vi.useFakeTimers();
    const [v8, node] = [standInV8(), new NodeThatHasUsed(V8_OF_NODE_20, 100)];
    const flags = tuneV8(v8, node);
    const growthWhileCompiling = (): string | undefined => flags.ofStart(() => v8.flags.get(GROWTH));
    const growthWhileLoading = (): string | undefined => flags.ofNode(() => v8.flags.get(GROWTH));
    expect(growthWhileCompiling()).toBe('8');
    vi.advanceTimersByTime(500);
    expect(v8.flags.get(GROWTH)).toBe('8');

    Object.assign(v8.young, { space_used_size: 0.5 * MB, space_available_size: 7.4 * MB });
    vi.advanceTimersByTime(100);
    expect(v8.flags.get(GROWTH)).toBe('1');
    const looks = v8.getHeapSpaceStatistics.mock.calls.length;
    vi.advanceTimersByTime(300);
    expect(v8.getHeapSpaceStatistics.mock.calls.length).toBe(looks);
    // A cache is made and read under the flags of the start, and Node's own one under those of V8: V8 refuses them otherwise.
    expect(growthWhileCompiling()).toBe('8');
    expect(v8.flags.get(GROWTH)).toBe('1');
    expect(growthWhileLoading()).toBe('2');
    expect(v8.flags.get(GROWTH)).toBe('1');
    expect(() => flags.ofNode(() => plainRequire('node:missing'))).toThrow('node:missing');
    expect(v8.flags.get(GROWTH)).toBe('1');

    node.usedMs = 1600;
    vi.advanceTimersByTime(1400);
    expect(v8.flags.get(GROWTH)).toBe('1');
    expect(growthWhileCompiling()).toBe('8');
  });

  it('grows to 8 MB also where V8 has let it grow by its own factor while it loaded a module of Node', () => {
    const v8 = standInV8();
    const flags = tuneV8(v8, new NodeThatHasUsed(V8_OF_NODE_20, 100));
    const growthBehind = (bytes: number): string | undefined => {
      flags.ofNode(() => (v8.young.space_available_size = bytes));
      return v8.flags.get(GROWTH);
    };
    expect([0.98, 1.96, 3.93, 7.86].map((megabytes) => growthBehind(megabytes * MB))).toEqual(['8', '4', '2', '2']);
    flags.ofStart(() => expect(v8.flags.get(GROWTH)).toBe('8'));
    expect(v8.flags.get(GROWTH)).toBe('2');
  });

  it('is not looked at by versions that grow it as V8 does', () => {
    vi.useFakeTimers();
    const v8 = standInV8();
    tuneV8(v8, new NodeThatHasUsed('14.6.202.34-node.34', 100));
    vi.advanceTimersByTime(3000);
    expect(v8.getHeapSpaceStatistics).not.toHaveBeenCalled();
  });

  it('is not looked at any more, nor held, in a long run that has not filled it', () => {
    vi.useFakeTimers();
    const v8 = standInV8();
    tuneV8(v8, new NodeThatHasUsed(V8_OF_NODE_20, 1600));
    vi.advanceTimersByTime(2000);
    const looks = v8.getHeapSpaceStatistics.mock.calls.length;
    v8.young.space_available_size = 16 * MB;
    vi.advanceTimersByTime(1000);
    expect(v8.getHeapSpaceStatistics.mock.calls.length).toBe(looks);
    expect(v8.flags.get(GROWTH)).not.toBe('1');
  });
});
