/** A hook that takes too long is ended, with what it started, while the run goes on. Decision 8. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/file-store.js';
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
  it('loses its process while the run goes on', async () => {
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

  it('leaves no answer: what a program wrote until it was ended is none', async () => {
    const folder = await projectFolder({
      'job.mld': `exe llm @ask(q) = sh { trap "echo half an answer; exit 0" TERM; echo "$q" >> calls.log; for i in $(seq 600); do sleep 0.1; done }
hook before op:log = [ let @a = @ask("in a hook") ]
log "go"
run sh { for i in $(seq 40); do sleep 0.05; done }
`,
    });
    const first = await runCli(['job.mld', '--checkpoint'], { cwd: folder, env: LIMIT });
    expect(first.status).toBe(0);
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

it.each(['soon', '0s', '-1s'])('refuses a limit that is none: %s', async (limit) => {
  const folder = await projectFolder({ 'job.mld': 'show "x"\n' });
  const { stdout, stderr, status } = await runCli(['job.mld'], { cwd: folder, env: { MLLD_HOOK_TIMEOUT: limit } });
  expect([stdout, status]).toEqual(['', 1]);
  expect(stderr).toContain(`MLLD_HOOK_TIMEOUT=${limit}: not a duration`);
});
