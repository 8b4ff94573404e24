/** HOOK-3: nothing that a hook does fails the operation. instrumentation.md 5.11. */
import { describe, expect, it } from 'vitest';
import { createTimeLimit } from '../../src/hooks/time-limit.js';
import type { RunState } from '../../src/runtime/frame.js';
import { WorldError } from '../../src/world/world.js';
import { FakeWorld } from '../support/fake-world.js';
import { runScript } from '../support/in-fake-world.js';

const TELL = 'exe @tell(x) = `t(@x)`\n';

describe('HOOK-3: a failing hook', () => {
  it.each([
    ['an unknown variable', 'show @nowhere', '@nowhere'],
    ['bail', 'bail "enough"', 'enough'],
    ['a refused write', 'append "x" to "data.json"', 'data.json'],
    ['a denial', 'show @forbidden("x")', 'not for hooks'],
    ['a question that the world does not know: a fault of ours', 'run cmd { ls }', 'command.run'],
    ['endless recursion', 'show @deep("x")', 'deep'],
  ])('is recorded and forgotten: %s', async (_what, statement, message) => {
    const { shown, warnings, run, error } = await runScript(`${TELL}exe @forbidden(x) = "no"
exe recursive @deep(x) = \`@deep(@x)\`
guard before @forbidden = when [ * => deny "not for hooks" ]
hook @bad before @tell = [
  show "before it failed"
  ${statement}
  => "never"
]
hook after @tell = [ show "the next hook" ]
show @tell("x")
show "and on"`);
    expect(error).toBeUndefined();
    expect(shown).toBe('before it failed\nthe next hook\nt(x)\nand on\n');
    expect(run.hookErrors).toEqual([
      { hookId: 'bad', hookName: 'bad', timing: 'before', filterKind: 'function', message: expect.stringContaining(message) as string },
    ]);
    expect(warnings).toEqual([expect.stringMatching(/^hook @bad: .*$/)]);
  });

  it('is named by its number when it has no name', async () => {
    const { run, warnings } = await runScript(`hook @named after op:log = [ let @x = 1 ]
hook after op:show = [ show @nowhere ]
hook before hot = [ show @nowhere ]
show "x"
var hot @y = 1`);
    expect(run.hookErrors).toMatchObject([
      { hookId: '<unnamed-hook-2>', hookName: null, timing: 'after', filterKind: 'operation' },
      { hookId: '<unnamed-hook-3>', hookName: null, timing: 'before', filterKind: 'data' },
    ]);
    expect(warnings[0]).toMatch(/^hook <unnamed-hook-2>: /);
  });

  it('is seen by the hooks of its own operation, and with all others in the rest of the run', async () => {
    const { shown } = await runScript(`${TELL}hook @bad before @tell = [ show @nowhere ]
hook @report after @tell = [ show \`here @mx.hooks.errors.length @mx.hooks.errors[0].hookName\` ]
var @a = @tell("1")
var @b = @tell("2")
show \`all @mx.hooks.errors.length\``);
    expect(shown).toBe('here 1 bad\nhere 1 bad\nall 2\n');
  });

  it('is recorded in the journal with its message', async () => {
    const { facts } = await runScript('hook @bad after op:show = [ bail "kaput" ]\nshow "x"', { records: true });
    expect(facts.find(({ type }) => type === 'hook.fired')).toMatchObject({ hook: 'bad', error: 'kaput', transformed: false });
    expect(facts.at(-1)).toMatchObject({ type: 'op.finished', outcome: 'ok' });
  });
});

describe('the end of the run', () => {
  it.each(['INTERRUPTED', 'TIMED_OUT'])('passes through hooks: %s', async (code) => {
    class EndingWorld extends FakeWorld {
      override perform: FakeWorld['perform'] = async (question, request) => {
        if (question === 'file.append') throw new WorldError(code, 'the run has ended');
        return FakeWorld.prototype.perform.call(this, question, request) as never;
      };
    }
    const { error, run } = await runScript('hook before op:show = [ append "x" to "y.txt" ]\nshow "x"', { world: new EndingWorld() });
    expect(error).toMatchObject({ code });
    expect(run.hookErrors).toEqual([]);
  });
});

describe('the time limit', () => {
  /** A clock that is moved by hand: who sleeps is woken when its time has come. */
  class Clock {
    nowMs = 0;
    private sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
    readonly settings = { hookLimitMs: 100 };
    readonly monotonicMs = (): number => this.nowMs;
    readonly world = {
      perform: (_question: string, { ms }: { ms: number }) =>
        new Promise((resolve) => this.sleepers.push({ atMs: this.nowMs + ms, wake: () => resolve({}) })),
    } as unknown as RunState['world'];
    get sleeping(): number {
      return this.sleepers.length;
    }
    async advance(ms: number): Promise<void> {
      this.nowMs += ms;
      const due = this.sleepers.filter(({ atMs }) => atMs <= this.nowMs);
      this.sleepers = this.sleepers.filter(({ atMs }) => atMs > this.nowMs);
      for (const { wake } of due) wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const never = new Promise<never>(() => undefined);

  it('ends the wait for a body that hangs, each at its own time', async () => {
    const clock = new Clock();
    const within = createTimeLimit(clock.world);
    const ended: string[] = [];
    const start = (name: string): void => void within(() => never, clock).catch((error: Error) => ended.push(`${name} ${error.message}`));
    start('first');
    await clock.advance(60);
    start('second');
    await clock.advance(39);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(['first it did not end within 0.1 seconds']);
    await clock.advance(59);
    expect(ended).toHaveLength(1);
    await clock.advance(1);
    expect(ended).toHaveLength(2);
  });

  it('LIMIT-1: lets one sleeper watch all bodies, and none when nothing runs', async () => {
    const clock = new Clock();
    const within = createTimeLimit(clock.world);
    for (let i = 0; i < 50; i++) expect(await within(() => Promise.resolve(i), clock)).toBe(i);
    expect(clock.sleeping).toBe(1);
    await clock.advance(100);
    expect(clock.sleeping).toBe(0);
  });

  it('gives what the body gave or threw in time', async () => {
    const clock = new Clock();
    const within = createTimeLimit(clock.world);
    await expect(within(() => Promise.reject(new Error('kaput')), clock)).rejects.toThrow('kaput');
    await clock.advance(200);
    await expect(within(() => Promise.resolve('late start'), clock)).resolves.toBe('late start');
  });

  it('makes a hook that hangs a failed hook', async () => {
    class HangingWorld extends FakeWorld {
      override perform: FakeWorld['perform'] = (question, request) => {
        if (question === 'file.append') return never;
        if (question === 'clock.sleep') return Promise.resolve({}) as never;
        return FakeWorld.prototype.perform.call(this, question, request) as never;
      };
    }
    const { shown, run, error } = await runScript('hook @slow before op:show = [ append "x" to "y.txt" ]\nshow "x"', {
      world: new HangingWorld(),
    });
    expect(error).toBeUndefined();
    expect(shown).toBe('x\n');
    expect(run.hookErrors).toMatchObject([{ hookId: 'slow', message: 'it did not end within 60 seconds' }]);
  });
});
