/** A hook that takes too long is ended, with everything it started, while the run continues. Decision 8. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalEvent } from '../../journal/event.js';
import { runCli, projectFolder } from '../support/cli.js';

const LIMIT = { MLLD_HOOK_TIMEOUT: '300ms' };

async function eventsOf(folder: string): Promise<JournalEvent[]> {
  const store = openFileStore(folder);
  const events: JournalEvent[] = [];
  for (const workflow of await store.workflows()) {
    for (const { ref } of await store.runs(workflow)) await store.scan(ref, (event) => void events.push(event));
  }
  return events;
}

describe('a hook that hangs', () => {
  it('loses its process while the run continues', async () => {
    const folder = await projectFolder({
      'job.mld': `hook @stuck before op:var = [ run sh { echo $$ > pid.txt; exec sleep 600 } ]
var @x = "bound"
show @x
run sh { for i in $(seq 100); do kill -0 $(cat pid.txt) 2> /dev/null || { echo gone; exit; }; sleep 0.05; done; echo alive }
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['bound\ngone\n', 0]);
    expect(stderr).toContain('hook @stuck: it did not end within 0.3 seconds');
  });

  it('does nothing any more, whatever it waited for', async () => {
    const folder = await projectFolder({
      'job.mld': `exe @slowly() = js { await new Promise((resolve) => setTimeout(resolve, 600)); return "late" }
exe @stubborn() = sh { trap "" TERM; sleep 1; echo late }
hook before op:var = [ let @v = @slowly(); append \`js @v\` to "trail.txt" ]
hook before op:var = [ append @stubborn() to "trail.txt" ]
hook before op:var = [ for parallel(2) @i in [1, 2, 3, 4] => [ let @v = @slowly(); append \`item @v\` to "trail.txt" ] ]
hook before op:var = when [ @slowly() == "late" => append "when" to "trail.txt" ]
var @x = "bound"
run sh { sleep 2 }
show @x
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['bound\n', 0]);
    expect(stderr.match(/did not end within/g)).toHaveLength(4);
    await expect(fs.readFile(path.join(folder, 'trail.txt'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it('leaves no result: the output that a program wrote until it was ended is not one', async () => {
    const folder = await projectFolder({
      'job.mld': `exe llm @ask(q) = sh { trap "echo half an answer; exit 0" TERM; echo "$q" >> calls.log; for i in $(seq 600); do sleep 0.1; done }
hook before op:log = [ let @a = @ask("in a hook") ]
log "go"
run sh { for i in $(seq 40); do sleep 0.05; done }
`,
    });
    const first = await runCli(['job.mld', '--checkpoint'], { cwd: folder, env: LIMIT });
    expect(first.status).toBe(4); // the call has no result
    const events = await eventsOf(folder);
    expect(events.filter(({ type }) => type === 'call.started' || type === 'call.completed' || type === 'call.failed')).toMatchObject([
      { type: 'call.started' },
      { type: 'call.failed' },
    ]);
    expect(events.find(({ type }) => type === 'hook.fired')).toMatchObject({ error: 'it did not end within 0.3 seconds' });
    await runCli(['job.mld', '--resume'], { cwd: folder, env: LIMIT });
    expect(await fs.readFile(path.join(folder, 'calls.log'), 'utf8')).toBe('in a hook\nin a hook\n');
  });

  it('does not take the guards of what it does with it: they end with it as well', async () => {
    const folder = await projectFolder({
      'job.mld': `exe @slow() = sh { sleep 600 }
guard before op:append = when [ @slow() == "" => allow ]
hook before op:var = [ append "x" to "trail.txt" ]
var @x = "bound"
show @x
`,
    });
    const { stdout, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['bound\n', 0]);
    await expect(fs.readFile(path.join(folder, 'trail.txt'), 'utf8')).rejects.toThrow('ENOENT');
  });
});

it('counts as failed also when it did not give way, and goes no further', async () => {
  const folder = await projectFolder({
    'job.mld': `exe @busy(ms) = js { const from = Date.now(); while (Date.now() - from < ms) {} return "late" }
hook @late before op:var = [ => @busy(500) ]
hook @further before op:var = [ let @v = @busy(500); append @v to "trail.txt" ]
var @x = "bound"
show @x
`,
  });
  const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
  expect([stdout, status]).toEqual(['bound\n', 0]);
  expect(stderr.match(/hook @(late|further): it did not end within 0\.3 seconds/g)).toHaveLength(2);
  await expect(fs.readFile(path.join(folder, 'trail.txt'), 'utf8')).rejects.toThrow('ENOENT');
});

describe('the watch over hooks', () => {
  const NEVER = 'exe @never() = js { await new Promise(() => {}) }\n';

  it('keeps no run alive when no hook runs', async () => {
    const folder = await projectFolder({
      'job.mld': `${NEVER}hook before op:var = [ show "seen" ]\nvar @x = "bound"\nshow @never()\n`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder });
    expect([stdout, stderr, status]).toEqual(['seen\n', expect.stringContaining('something that will never happen'), 143]);
  });

  it('keeps a run alive while one waits for what never comes, also behind others', async () => {
    const folder = await projectFolder({
      'job.mld': `${NEVER}hook before op:var = [ show "seen" ]
hook before op:var = [ let @v = @never() ]
var @x = "one"
var @y = "two"
show @y
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['seen\nseen\ntwo\n', 0]);
    expect(failuresIn(stderr, '<unnamed-hook-2>')).toBe(2);
  });
});

describe('a hook that is busy for ever', () => {
  it.each(['js', 'node'])('times out in %s code, also in a body that was fast before', async (language) => {
    const folder = await projectFolder({
      'job.mld': `exe @until(n) = ${language} { while (n > 2) {} return n }
hook @busy before op:var = [
  let @first = @until(1)
  let @second = @until(2)
  append \`@first @second\` to "trail.txt"
  let @third = @until(3)
  append "further" to "trail.txt"
  => "replaced"
]
var @x = "bound"
show \`@x, @mx.hooks.errors.length: @mx.hooks.errors[0].hookName @mx.hooks.errors[0].message\`
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld', '--checkpoint'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['bound, 1: busy it did not end within 0.3 seconds\n', 0]);
    expect(stderr).toContain('hook @busy: it did not end within 0.3 seconds');
    expect(await fs.readFile(path.join(folder, 'trail.txt'), 'utf8')).toBe('1 2\n');
    const events = await eventsOf(folder);
    expect(events.find(({ type }) => type === 'hook.fired')).toMatchObject({ error: 'it did not end within 0.3 seconds' });
    expect(events.at(-1)).toMatchObject({ type: 'run.finished', status: 'completed' });
  });

  it('does not take the next hook and the next statement with it', async () => {
    const folder = await projectFolder({
      'job.mld': `exe @endless() = js { for (;;) {} }
hook before op:var = [ => @endless() ]
hook before op:var = [ => \`after @input\` ]
var @x = "one"
var @y = "two"
show \`@x, @y\`
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['after one, after two\n', 0]);
    expect(failuresIn(stderr, '<unnamed-hook-1>')).toBe(2);
  });

  it('leaves no half of a module to those who need it later', async () => {
    const folder = await projectFolder({
      'slow.cjs': 'exports.begun = 1;\nif (!globalThis.wasSlow) { globalThis.wasSlow = true; for (;;) {} }\nexports.whole = 42;\n',
      'job.mld': `exe @load() = node { return require("./slow.cjs").whole }
hook @early before op:var = [ let @v = @load() ]
var @x = "bound"
show @load()
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['42\n', 0]);
    expect(stderr).toContain('hook @early: it did not end within 0.3 seconds');
  });

  it('ends with the run when the time of that is over first', async () => {
    const folder = await projectFolder({
      'job.mld': `exe @endless() = js { for (;;) {} }
hook before op:var = [ => @endless() ]
var @x = "one"
show @x
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld', '--timeout', '500ms'], { cwd: folder });
    expect([stdout, status]).toEqual(['', 1]);
    expect(stderr).toMatch(/^Error: The run timed out after 500 ms\n/);
  });

  it.each([
    ['a loop', 'loop(endless) [ let @n = 1 ]'],
    ['a loop that is one condition', 'loop(endless) until @list(1).length > 1 [ continue ]'],
    ['a stage that runs again and again', 'let @r = 1 | while(1000000000) @same'],
    ['loops inside each other', 'let @r = for @i in @many => for @j in @many => for @k in @many => for @l in @many => @l'],
    ['functions that call themselves', 'let @r = @fold(60)'],
  ])('times out in %s', async (_what, statement) => {
    const folder = await projectFolder({
      'job.mld': `exe @list(n) = js { return Array.from({ length: n }, (_, i) => i) }
exe @same(n) = \`@n\`
exe recursive @fold(n) = @n > 0 ? @fold(@n - 1) + @fold(@n - 1) : 0
var @many = @list(400)
hook @busy before op:show = [ ${statement} ]
show "shown"
show "and on"
`,
    });
    const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: LIMIT });
    expect([stdout, status]).toEqual(['shown\nand on\n', 0]);
    expect(failuresIn(stderr, '@busy')).toBe(2);
  });
});

it.each(['soon', '0s', '-1s'])('refuses a limit that is none: %s', async (limit) => {
  const folder = await projectFolder({ 'job.mld': 'show "x"\n' });
  const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: { MLLD_HOOK_TIMEOUT: limit } });
  expect([stdout, status]).toEqual(['', 1]);
  expect(stderr).toContain(`MLLD_HOOK_TIMEOUT=${limit}: not a duration`);
});

/** Failures of one cause are counted in the line about them; the second may be late for it. control.md 24.5. */
function failuresIn(stderr: string, hook: string): number {
  const lines = stderr.matchAll(/^warning: (?:(\d+) times: |once more: )?hook (\S+): it did not end within 0\.3 seconds$/gm);
  return [...lines].filter(([, , name]) => name === hook).reduce((sum, [, times = '1']) => sum + Number(times), 0);
}
