/** `mlld journal replay`: a recorded run again, with nothing but its journal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, startCli, type CliResult, withoutSummary } from '../../support/cli.js';

interface Project {
  readonly cwd: string;
  readonly mlld: (...argv: string[]) => Promise<CliResult>;
  readonly write: (name: string, text: string) => void;
}

async function project(files: { readonly [name: string]: string }, env: { readonly [name: string]: string } = {}): Promise<Project> {
  const cwd = await projectFolder(files);
  return {
    cwd,
    mlld: (...argv) => callCli(argv, { cwd, env }),
    write: (name, text) => fs.writeFileSync(path.join(cwd, name), text),
  };
}

/** Random, timed, from the disk, from the clock, from a command: nothing of it comes out the same twice. */
const RESTLESS = `import { @label } from "./names.mld"
exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "$q:$RANDOM$(date +%N)" }
exe llm @wrapped(q) = @ask(@q)
exe llm @think(q) = js { return { q, luck: Math.random() } }
exe @nap(n) = sh { sleep 0.0$n; date +%N }
var @notes = <notes.txt>
show @label(@notes)
checkpoint "begun"
for parallel(4) @n in [5, 1, 4, 2, 3] [
  let @at = @nap(@n)
  show \`@n woke at @at\`
]
var @all = for parallel(3) @q in ["ebb", "flow", "slack"] => @wrapped(@q)
show @all
show @think("tide")
show @now
append "one line" to "log.txt"
output @all to "out/all.json"
`;
const FILES = { 'job.mld': RESTLESS, 'names.mld': 'exe @label(x) = `<< @x >>`\nexport { @label }\n', 'notes.txt': 'low water at nine' };

describe('a replay', () => {
  it('writes byte for byte what the run wrote, in its order, and touches no file', async () => {
    const { cwd, mlld } = await project(FILES);
    const ran = await mlld('job.mld', '--checkpoint');
    for (const name of ['job.mld', 'names.mld', 'notes.txt', 'log.txt', 'calls.log']) fs.rmSync(path.join(cwd, name));
    fs.rmSync(path.join(cwd, 'out'), { recursive: true });
    const before = new Set(fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' }));
    const replayed = await mlld('journal', 'replay', 'latest');
    expect(replayed).toMatchObject({ stdout: ran.stdout, status: 0 });
    expect(replayed.stderr).toContain('same: run ');
    expect(new Set(fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' }))).toEqual(before);
  });

  it('reuses results of an earlier run and of a fork source', async () => {
    const { cwd, mlld, write } = await project(FILES);
    await mlld('job.mld', '--checkpoint');
    await mlld('job.mld', '--checkpoint');
    write('branch.mld', 'exe llm @ask(q) = sh { echo "other:$q" }\nshow @ask("ebb")\nshow @ask("neap")\n');
    const borrowed = await mlld('branch.mld', '--fork', 'job');
    const log = fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8');
    expect(log.split('\n')).toHaveLength(4); // three calls and the end
    expect(await mlld('journal', 'replay', 'branch')).toMatchObject({ stdout: borrowed.stdout, status: 0 });
    expect(await mlld('journal', 'replay', 'job@1')).toMatchObject({ status: 0 });
    expect(await mlld('journal', 'replay', 'job@2')).toMatchObject({ status: 0 });
    expect(fs.readFileSync(path.join(cwd, 'calls.log'), 'utf8')).toBe(log);
  });

  it.each([
    ['a command', '[ run sh { echo half; exec sleep 600 } ]'],
    [
      'a wait, with work before and behind it',
      '[ append "before" to "trail.txt"\n show "seen"\n @pause()\n append "behind" to "trail.txt" ]',
    ],
    ['code that awaits', '[ let @v = @never()\n append `@v` to "trail.txt" ]'],
    ['code that is busy', '[ append "before" to "trail.txt"\n let @v = @endless()\n append `@v` to "trail.txt" ]'],
    ['code that gives way late', '[ let @v = @late()\n let @a = @ask("behind")\n append @a to "trail.txt"\n => "replaced" ]'],
    ['a value that comes too late', '[ => @late() ]'],
    ['a loop of the language', '[ show "seen"\n loop(endless) [ let @n = 1 ] ]'],
    ['a model call', '[ let @a = @ask("before")\n let @b = @slowly("too long") ]'],
    ['several at a time', '[ for parallel(3) @n in [1, 2, 3] => [ show `item @n`\n run sh { sleep 600 } ] ]'],
  ])('has a hook whose time was over in %s fail as it did, and waits for nothing', async (_what, body) => {
    const { mlld } = await project(
      {
        'job.mld': `exe @pause() = sh { sleep 600 }
exe @never() = js { await new Promise(() => {}) }
exe @endless() = js { for (;;) {} }
exe @late() = js { await null; const from = Date.now(); while (Date.now() - from < 600) {} return "late" }
exe llm @ask(q) = sh { echo "A:$q" }
exe llm @slowly(q) = sh { sleep 600; echo "A:$q" }
hook @stuck before op:var = ${body}
hook @next after op:var = [ show \`next @mx.hooks.errors.length\` ]
var @x = @ask("ebb")
var @list = for parallel(2) @q in ["flow", "slack"] => @ask(@q)
show \`@x @list.join("+") @mx.hooks.errors.length: @mx.hooks.errors[0].message\`
`,
      },
      { MLLD_HOOK_TIMEOUT: '400ms' },
    );
    const ran = await mlld('job.mld', '--checkpoint');
    expect(ran.stdout).toMatch(/A:ebb A:flow\+A:slack 2: it did not end within 0.4 seconds\n$/);
    const replayed = await mlld('journal', 'replay', 'job');
    expect(replayed).toMatchObject({ stdout: ran.stdout, status: 0 });
    expect(replayed.stderr).toContain('same: run ');
    expect(replayed.stderr).toMatch(/^warning: 2 times: .*did not end within 0.4 seconds$/m);
  });

  it('runs hooks and guards again, and results that they change', async () => {
    const { mlld } = await project({
      'job.mld': `guard @loud after @ask = when [ @output == "dull" => deny "too dull"\n * => allow ]
hook @note after @ask = [ log "asked"\n  => \`[@output]\` ]
exe llm @ask(q) = when [ denied => "nothing"\n * => @answer(@q) ]
exe @answer(q) = sh { echo "$q" }
show @ask("dull")
show @ask("bright")
`,
    });
    const ran = await mlld('job.mld', '--checkpoint');
    expect(ran.stdout).toContain('[bright]');
    expect(await mlld('journal', 'replay', 'latest')).toMatchObject({ stdout: ran.stdout, status: 0 });
  });

  it('takes standard input, environment, payload, state and injected modules from the record', async () => {
    const files = {
      'job.mld': `import { @MLLD_PORT, @text } from @input
import { @depth } from @cfg
show \`@text @MLLD_PORT @payload.ship @state.count @depth\`
`,
    };
    const cwd = await projectFolder(files);
    const argv = ['job.mld', '--checkpoint', '--ship', 'gull', '--state', '{"count": 3}', '--inject', '@cfg={"depth": 7}'];
    const ran = await callCli(argv, { cwd, stdin: 'piped', env: { MLLD_PORT: '7' } });
    expect(ran.stdout).toBe('piped 7 gull 3 7\n');
    expect(await callCli(['journal', 'replay', 'latest'], { cwd })).toMatchObject({ stdout: ran.stdout, status: 0 });
  });

  it('ends with the error of a run that failed', async () => {
    const { mlld } = await project({ 'job.mld': 'show "begun"\nvar @x = js { throw new Error("no tide " + Math.random()) }\n' });
    const ran = await mlld('job.mld', '--checkpoint');
    expect(ran.status).toBe(1);
    const replayed = await mlld('journal', 'replay', 'latest');
    expect(replayed).toMatchObject({ stdout: ran.stdout, status: 0 });
    expect(replayed.stderr).toMatch(/failed with the same error: .*no tide 0\./);
  });

  it('agrees with a run that was killed, up to the end of its record', async () => {
    const { cwd, mlld } = await project({ 'job.mld': 'show "begun"\nrun sh { sleep 20 }\nshow "ended"\n' });
    const child = startCli(['job.mld', '--checkpoint'], { cwd });
    while (!(await mlld('journal', 'show', 'latest', '--type', 'effect.performed')).stdout.includes('begun'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGKILL');
    await once(child, 'close');
    const replayed = await mlld('journal', 'replay', 'latest');
    expect(replayed).toMatchObject({ stdout: 'begun\n', status: 0 });
    expect(replayed.stderr).toContain('up to the end of the record');
  });

  it('opens sealed results with the key of the run, and reports a missing key', async () => {
    const key = 'a'.repeat(64);
    const script = 'var secret @word = sh { echo "open sesame $RANDOM" }\nvar @n = @word.length\nshow @n\n';
    const { mlld } = await project({ 'job.mld': script }, { MLLD_JOURNAL_KEY: key });
    const ran = await mlld('job.mld', '--checkpoint');
    expect(await mlld('journal', 'replay', 'latest')).toMatchObject({ stdout: ran.stdout, status: 0 });
    const keyless = { MLLD_JOURNAL_KEY: 'none', MLLD_PORT: '7' };
    const files = { 'job.mld': script, 'env.mld': 'import { @MLLD_PORT } from @input\nshow @MLLD_PORT\n' };
    const without = await project(files, keyless);
    await without.mlld('job.mld', '--checkpoint');
    expect((await without.mlld('journal', 'replay', 'latest')).stderr).toContain('its script holds secrets');
    await without.mlld('env.mld', '--checkpoint');
    const refused = await without.mlld('journal', 'replay', 'env');
    expect(refused.status).toBe(3);
    expect(refused.stderr).toContain('no longer holds in clear');
  });

  it('tells no secret: neither where it stops, nor where it leaves the record', async () => {
    const script = (more: string): string => `import { MLLD_TOKEN } from @input
var secret @token = @MLLD_TOKEN
exe @shell(q) = sh { echo "got $q" }
var @out = @shell(@token)
var @all = { deep: [@out] }${more}
checkpoint "here"
`;
    const token = 'canary00ff11ee22dd33cc';
    const { mlld, write } = await project({ 'job.mld': script('') }, { MLLD_TOKEN: token });
    await mlld('job.mld', '--checkpoint');
    const stopped = await mlld('journal', 'replay', 'job', '--at', 'here');
    expect(stopped.stdout + stopped.stderr).toContain('@token = "[secret]"');
    expect(stopped.stdout + stopped.stderr).toContain('@all = "[secret]"');
    write('other.mld', script('\nexe @new(q) = sh { echo "new $q" }\nvar @more = @new(@token)'));
    const diverged = await mlld('journal', 'replay', 'job', '--script', 'other.mld', '--json');
    expect(diverged.stdout).toContain('"q": "[secret]"');
    expect([stopped, diverged].map(({ stdout, stderr }) => stdout + stderr).join()).not.toContain(token);
  });

  it('is the same where a reused call had written a file that was not kept', async () => {
    const script =
      'var secret @word = "open sesame"\nexe llm @write(q) = sh { echo "$q" > out.txt; echo done } with { writes: ["out.txt"] }\nshow @write(@word)\n';
    const { mlld } = await project({ 'job.mld': script });
    await mlld('job.mld', '--checkpoint');
    await mlld('job.mld', '--checkpoint');
    expect(await mlld('journal', 'replay', 'latest')).toMatchObject({ stdout: 'done\n', status: 0 });
  });

  it('says of declared files what the run said: only of what it had not written that it is missing', async () => {
    const script =
      'exe llm @draw(n) = sh { if [ $n != c ]; then echo "$n" > $n.txt; fi; echo ok } with { writes: [`@root/@n\\.txt`] }\nfor @i in ["a", "c"] => show @draw(@i)\n';
    const { mlld } = await project({ 'job.mld': script });
    const recorded = await mlld('job.mld', '--checkpoint');
    expect(withoutSummary(recorded.stderr)).toMatch(
      /^warning: c\.txt was declared as an output and can't be recorded: \S+c\.txt does not exist\n$/,
    );
    const replayed = await mlld('journal', 'replay', 'latest');
    expect(replayed).toMatchObject({ stdout: recorded.stdout, status: 0 });
    expect(replayed.stderr.startsWith(`${withoutSummary(recorded.stderr)}same: `)).toBe(true);
    expect(replayed.stderr).not.toContain('a.txt');
  });

  it('says that functions of Node modules are not recorded', async () => {
    const { mlld } = await project({ 'job.mld': 'import { hostname } from node @os\nvar @h = @hostname()\nshow @h.length\n' });
    await mlld('job.mld', '--checkpoint');
    const replayed = await mlld('journal', 'replay', 'latest');
    expect(replayed.status).toBe(3);
    expect(replayed.stderr).toContain('functions of a Node module');
  });

  it('calls functions of Node modules again that only compute', async () => {
    const script = 'import { basename, posix } from node @path\nimport { URL } from node @url\nexe @u = new @URL("https://a.example/b")\n';
    const { mlld } = await project({ 'job.mld': `${script}show @basename("/a/b")\nshow @posix.dirname("/c/d")\nshow @u.hostname\n` });
    const recorded = await mlld('job.mld', '--checkpoint');
    expect(recorded.stdout).toBe('b\n/c\na.example\n');
    expect(await mlld('journal', 'replay', 'latest')).toMatchObject({ status: 0, stdout: recorded.stdout });
  });
});

describe('a changed script against the old answers', () => {
  const SCRIPT = 'var @a = sh { echo one }\nvar @b = sh { echo two }\nshow `@a @b`\n';

  it('diverges at the first request that was not recorded: path, expected, actual, exit status 3', async () => {
    const { mlld, write } = await project({ 'job.mld': SCRIPT });
    await mlld('job.mld', '--checkpoint');
    write('job.mld', SCRIPT.replace('echo two', 'echo 2').replace('@a @b', '@a, @b'));
    expect(await mlld('journal', 'replay', 'latest')).toMatchObject({ stdout: 'one two\n', status: 0 });
    const first = await mlld('journal', 'replay', 'latest', '--current', '--json');
    expect(first.status).toBe(3);
    expect(JSON.parse(first.stdout)).toMatchObject({
      verdict: 'diverged',
      divergences: [
        {
          reason: 'changed',
          kind: 'command.run',
          expected: { subject: 'echo two' },
          actual: { request: { language: 'sh', code: ' echo 2 ' } },
        },
      ],
    });
  });

  it('continues with the recorded results under --all', async () => {
    const { mlld, write } = await project({ 'job.mld': SCRIPT });
    await mlld('job.mld', '--checkpoint');
    write('next.mld', SCRIPT.replace('echo two', 'echo 2').replace('@a @b', '@a, @b'));
    const all = await mlld('journal', 'replay', 'latest', '--script', 'next.mld', '--all');
    expect(all).toMatchObject({ stdout: 'one, two\n', status: 3 });
    expect(all.stderr.match(/^diverged: /gm)).toHaveLength(2);
    expect(all.stderr).toContain('{"text":"one two\\n"}');
  });

  it('reports requests that are missing, and a different end', async () => {
    const { mlld, write } = await project({ 'job.mld': SCRIPT });
    await mlld('job.mld', '--checkpoint');
    write('less.mld', SCRIPT.replace('show `@a @b`\n', ''));
    const less = await mlld('journal', 'replay', 'latest', '--script', 'less.mld', '--json');
    expect(JSON.parse(less.stdout)).toMatchObject({ divergences: [{ reason: 'missing', kind: 'stream.write' }] });
    write('fails.mld', `${SCRIPT}show @nowhere\n`);
    const fails = await mlld('journal', 'replay', 'latest', '--script', 'fails.mld', '--json');
    expect(JSON.parse(fails.stdout)).toMatchObject({ divergences: [{ reason: 'ending', expected: { subject: 'completed' } }] });
  });

  it('names the arguments of a call that asks something else', async () => {
    const script = 'exe llm @ask(q) = sh { echo "$q" }\nshow @ask("ebb")\n';
    const { mlld, write } = await project({ 'job.mld': script });
    await mlld('job.mld', '--checkpoint');
    write('job.mld', script.replace('"ebb"', '"flow"'));
    const { stdout, status } = await mlld('journal', 'replay', 'latest', '--current', '--json');
    expect(status).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      divergences: [{ op: 'main/ask#0', kind: 'call', expected: { request: ['ebb'] }, actual: { request: ['flow'] } }],
    });
  });

  it('looks at modules as they are now under --current', async () => {
    const { mlld, write } = await project(FILES);
    await mlld('job.mld', '--checkpoint');
    write('names.mld', 'exe @label(x) = `>> @x <<`\nexport { @label }\n');
    const { stderr, status } = await mlld('journal', 'replay', 'latest', '--current');
    expect(status).toBe(3);
    expect(stderr).toContain('>> low water at nine <<');
  });
});

describe('a stop on the way', () => {
  it('shows the variables at a checkpoint, behind an event, step by step', async () => {
    const { cwd, mlld } = await project({ 'job.mld': 'var @a = sh { echo one }\ncheckpoint "half"\nvar @b = { n: [1, 2] }\nshow @a\n' });
    await mlld('job.mld', '--checkpoint');
    const at = await mlld('journal', 'replay', 'latest', '--at', 'half');
    expect(at).toMatchObject({ stdout: '@a = "one"\n', status: 0 });
    const events = (await mlld('journal', 'show', 'latest', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const shows = events.find(({ kind }) => kind === 'stream.write').seq as number;
    const until = await mlld('journal', 'replay', 'latest', '--until', String(shows - 1), '--print', '@b');
    expect(until).toMatchObject({ stdout: '{\n  "n": [\n    1,\n    2\n  ]\n}\n', status: 0 });
    const steps = await callCli(['journal', 'replay', 'latest', '--step'], { cwd, stdin: '\n@a\nq\n' });
    expect(steps.stdout).toBe('one\n@a = "one"\n');
    expect((await mlld('journal', 'replay', 'latest', '--at', 'whole')).stderr).toContain('it reached "half"');
    expect((await mlld('journal', 'replay', 'latest', '--until', '9999')).stderr).toMatch(/ends with event \d+/);
  });
});

describe('a saved test', () => {
  it('passes anywhere, without the project, and holds the results of other runs', async () => {
    const { cwd, mlld } = await project(FILES);
    await mlld('job.mld', '--checkpoint');
    const ran = await mlld('job.mld', '--checkpoint');
    const elsewhere = await projectFolder();
    const folder = path.join(elsewhere, 'saved');
    expect(await mlld('journal', 'replay', 'latest', '--save-test', folder)).toMatchObject({ status: 0 });
    expect((await mlld('journal', 'replay', 'latest', '--save-test', folder)).stderr).toContain('is not empty');
    fs.rmSync(cwd, { recursive: true });
    const checked = await callCli(['journal', 'replay', '--check', 'saved'], { cwd: elsewhere });
    expect(checked).toMatchObject({ stdout: ran.stdout, status: 0 });
    fs.writeFileSync(path.join(elsewhere, 'job.mld'), 'show "something else"\n');
    expect((await callCli(['journal', 'replay', '--check', 'saved', '--current'], { cwd: elsewhere })).status).toBe(3);
    expect((await callCli(['journal', 'replay', '--check', elsewhere], { cwd: elsewhere })).stderr).toContain('holds no saved test');
  });

  it('is not made of a run with secrets: a test has no key', async () => {
    const files = { 'job.mld': 'exe llm @ask(q) = sh { echo "open $RANDOM sesame" }\nvar secret @word = @ask("x")\nshow @word.length\n' };
    for (const key of ['b'.repeat(64), 'none']) {
      const { cwd, mlld } = await project(files, { MLLD_JOURNAL_KEY: key });
      await mlld('job.mld', '--checkpoint');
      const { status, stderr } = await mlld('journal', 'replay', 'latest', '--save-test', 'saved');
      expect({ status, stderr }).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/can't be saved as a test: a secret went into event \d+/) as string,
      });
      expect(fs.existsSync(path.join(cwd, 'saved'))).toBe(false);
    }
  });
});

describe('a pipeline', () => {
  const DOT = `digraph tide { start [shape=Mdiamond]; exit [shape=Msquare]; plan [prompt="Plan"]
    work [shape=parallelogram, max_retries=0, tool_command="test -e open && date +%N"]; start -> plan -> work -> exit }`;

  it('replays with nothing but its journal, and shows its context on the way', async () => {
    const { cwd, mlld } = await project({ 'tide.dot': DOT, open: '' });
    const ran = await mlld('run', 'tide.dot', '--backend', 'cmd:date +%N');
    for (const name of ['tide.dot', 'open', '.mlld/graph']) fs.rmSync(path.join(cwd, name), { recursive: true });
    const before = fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' }).sort();
    const replayed = await mlld('journal', 'replay', 'tide.dot');
    expect(replayed).toMatchObject({ stdout: ran.stdout, status: 0 });
    expect(replayed.stderr).toContain('work ended success in ');
    expect(replayed.stderr).toMatch(/^same: run /m);
    expect(fs.readdirSync(cwd, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before);
    const at = await mlld('journal', 'replay', 'tide.dot', '--at', 'work', '--print', '@last_stage');
    expect(at).toMatchObject({ stdout: 'plan\n', status: 0 });
    const { pipeline, verdict, node_history } = JSON.parse((await mlld('journal', 'replay', 'tide.dot', '--json')).stdout);
    expect({ pipeline, verdict }).toEqual({ pipeline: 'tide', verdict: 'same' });
    expect(node_history.map(({ node_id }: { node_id: string }) => node_id)).toEqual(['start', 'plan', 'work', 'exit']);
  });

  it('is saved as a test with the runs that it goes on with, and diverges where the file is another one', async () => {
    const { cwd, mlld, write } = await project({ 'tide.dot': DOT });
    expect((await mlld('run', 'tide.dot')).status).toBe(1);
    write('open', '');
    expect((await mlld('run', 'tide.dot', '--resume')).status).toBe(0);
    const elsewhere = await projectFolder();
    const folder = path.join(elsewhere, 'saved');
    expect(await mlld('journal', 'replay', 'tide.dot', '--save-test', folder)).toMatchObject({ stdout: 'tide: completed\n', status: 0 });
    fs.rmSync(cwd, { recursive: true });
    expect(await callCli(['journal', 'replay', '--check', 'saved'], { cwd: elsewhere })).toMatchObject({
      stdout: 'tide: completed\n',
      status: 0,
    });
    fs.writeFileSync(path.join(elsewhere, 'tide.dot'), DOT.replace('date +%N', 'date +%s'));
    const current = await callCli(['journal', 'replay', '--check', 'saved', '--current'], { cwd: elsewhere });
    expect(current.status).toBe(3);
    expect(current.stderr).toContain('test -e open && date +%s');
  });
});

describe('the system calls of a replay', () => {
  it.skipIf(!fs.existsSync('/usr/bin/strace'))('start no process, write no file and open no connection', async () => {
    const { cwd, mlld } = await project(FILES);
    await mlld('job.mld', '--checkpoint');
    await mlld('journal', 'replay', 'latest'); // the program's own code cache is filled
    const program = path.resolve('dist/mlld.cjs');
    const trace = path.join(cwd, 'trace.txt');
    const calls = 'trace=execve,openat,open,creat,rename,unlink,mkdir,connect';
    const argv = ['-f', '-qq', '-o', trace, '-e', calls, process.execPath, program, 'journal', 'replay', 'latest'];
    const child = spawn('strace', argv, { cwd, env: { PATH: process.env['PATH'], HOME: cwd }, stdio: 'ignore' });
    await once(child, 'close');
    const lines = fs.readFileSync(trace, 'utf8').split('\n').slice(1); // the first one starts the program
    const telling = lines.filter((line) => /execve\(|connect\(|rename\(|unlink\(|mkdir\(|O_WRONLY|O_RDWR|O_CREAT/.test(line));
    expect(telling.filter((line) => !line.includes('/.cache') && !line.includes('/dev/'))).toEqual([]);
  });
});

it('reports what code throws at the line of its body, as the run did', async () => {
  const { mlld } = await project({
    'job.mld': `exe @bad(n) = js {
  const list = [n];

  if (n === 7) throw new Error("no " + list);
  return n;
}
var @r = for parallel(2) @n in [8, 7] => @bad(@n)
show @r[1].message
`,
  });
  const place = (text: string) => /failed: no 7 \((job\.mld:4:\d+)\)/.exec(text)?.[1];
  const run = await mlld('job.mld', '--checkpoint');
  expect(run).toMatchObject({ status: 0, stdout: 'no 7\n' });
  expect(place(run.stderr)).toMatch(/^job\.mld:4:/);
  const { stdout, stderr } = await mlld('journal', 'replay', 'latest');
  expect(place(stdout + stderr)).toBe(place(run.stderr));
});
