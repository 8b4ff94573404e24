/** Slips that were silent once: files that are not there, misspelt names. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

it('warns once of a loop over files of which none matches', async () => {
  const cwd = await projectFolder({
    'job.mld': `exe @all() = [
  var @files = <notes/*.md>
  => for @f in @files => @f
]
var @a = for @i in [1, 2, 3] => @all()
var @b = for @f in <notes/*.md>? => @f
var @none = <notes/*.md>
show @none.length
for @f in [] => show @f
`,
  });
  const { stdout, stderr, status } = await callCli(['job.mld'], { cwd });
  expect([stdout, status]).toEqual(['0\n', 0]);
  expect(stderr).toBe('warning: 3 times: for @f: no file matches <notes/*.md>, so that the loop does nothing (job.mld:3:16)\n');
});

it('suggests the function that a misspelt target of --resume may mean', async () => {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @review(t) = js { return t }\nshow @review("a")\n' });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  const { stderr, status } = await callCli(['job.mld', '--resume', '@reveiw'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain('did you mean @review?');
  const { stderr: far } = await callCli(['job.mld', '--resume', '@judge'], { cwd });
  expect(far).not.toContain('did you mean');
});

it('warns before a run of a hook on a misspelt function', async () => {
  const cwd = await projectFolder({
    'llm/run/job.mld': 'exe @review(t) = js { return t }\nhook after @reviw = [ log "x" ]\nshow @review("a")\n',
  });
  const { stderr } = await callCli(['run', 'job'], { cwd });
  expect(stderr).toContain('job.mld:2:1 - this hook never fires: no function @reviw is declared in this file (did you mean @review?)');
});

it('ends a file of JSON with a line end, and no other', async () => {
  const cwd = await projectFolder({
    'job.mld': 'output {"a": 1} to "a.json" as json\noutput "text" to "b.json" as json\noutput {"a": 1} to "c.json"\nshow <a.json>.a\n',
  });
  expect((await callCli(['job.mld'], { cwd })).stdout).toBe('1\n');
  const texts = await Promise.all(['a.json', 'b.json', 'c.json'].map((name) => fs.readFile(path.join(cwd, name), 'utf8')));
  expect(texts).toEqual(['{\n  "a": 1\n}\n', 'text', '{\n  "a": 1\n}']);
});

it('lists failed agents by their reasons, with --verbose each', async () => {
  const cwd = await projectFolder({
    'x.js': `export const meta = { name: 'x', description: 'tides' };
return parallel([1, 2, 3, 4].map((n) => () => agent('pier ' + n)));
`,
  });
  const argv = ['run', 'x.js', '--backend', 'cmd:exit 3'];
  const { stderr } = await callCli(argv, { cwd });
  expect(stderr).toMatch(/^4 of 4 agents failed:\n {2}pier 1 and 3 more: crash: exit status 3\nask just these again/m);
  expect(stderr).toContain("\nask just these again: mlld run x.js --backend 'cmd:exit 3' --resume failed\n");
  const { stderr: all } = await callCli([...argv, '--verbose'], { cwd });
  expect(all.match(/^ {2}pier \d: crash: exit status 3$/gm)).toHaveLength(4);
});

it('names the command that asks failed agents again so that it runs, also where a phase is called failed', async () => {
  const cwd = await projectFolder({
    'x.js': "export const meta = { name: 'x', description: 'tides' };\nphase('failed');\nreturn parallel([() => agent('pier')]);\n",
  });
  const { stderr } = await callCli(['run', 'x.js', '--backend', 'cmd:exit 3', '--retries', '0'], { cwd });
  const named = /\nask just these again: (.*)\n/.exec(stderr)?.[1];
  expect(named).toBe("mlld run x.js --backend 'cmd:exit 3' --retries 0 --resume");
  expect(stderr).toContain(`; next: ${named}\n`);
});

it('plans the first run of a fork by what its source has', async () => {
  const script = (name: string): string => `export const meta = { name: '${name}', description: 'tides' };\nreturn agent('pier');\n`;
  const cwd = await projectFolder({ 'x.js': script('x'), 'y.js': script('y') });
  const backend = ['--backend', 'simulated'];
  expect((await callCli(['run', 'y.js', ...backend, '--plan'], { cwd })).stdout).toBe(
    'y.js: no run is recorded, so every agent is asked\n',
  );
  await callCli(['run', 'x.js', ...backend], { cwd });
  const { stdout } = await callCli(['run', 'y.js', ...backend, '--fork', 'x.js', '--plan'], { cwd });
  expect(stdout).toMatch(/^y\.js: 1 reused, 0 to execute, if it makes the calls of its fork sources; it has no recorded run/);
});

it('lists the failed agents of a paused run, whose resume asks more than these', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': '{"agent":{"retryMs":1}}',
    'x.js': `export const meta = { name: 'x', description: 'tides' };
await agent('ebb');
return parallel([1, 2, 3, 4, 5].map((n) => () => agent('pier ' + n)));
`,
  });
  const backend = 'cmd:read -r p; case $p in ebb) exit 3;; "pier 1") echo usage limit reached >&2; exit 77;; esac';
  const { status, stderr } = await callCli(['run', 'x.js', '--parallel', '1', '--backend', backend], { cwd });
  expect(status).toBe(5);
  expect(stderr).toMatch(/^1 agent failed:\n {2}ebb: crash: exit status 3\n/m);
  expect(stderr).not.toContain('ask just these again');
  expect(stderr).toMatch(/; next: mlld run x\.js .* --resume\n/);
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^cd \S+ && mlld run x\.js .* --resume$/); // for a timer
});
