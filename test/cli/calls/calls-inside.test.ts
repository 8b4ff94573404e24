/** A call inside another one is executed again only if that one is: what selects it takes the calls around with it. calls.md 15.5. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

/** `sick` lists the words that @part fails for. */
const SCRIPT = `exe llm @part(q) = sh { echo "part $q" >> log; if grep -qw "$q" sick; then echo '{"fail":{"class":"content","message":"no"}}' >> $MLLD_CALL_REPORT; fi; echo "P:$q" }
exe llm @whole(q) = [
  let @parts = for parallel(2) @n in [1, 2] => @part(\`@q@n\`)
  let @good = for @p in @parts when !@p.mx.failed => @p
  => @good.join("+")
]
var @all = for parallel(2) @q in ["a", "b", "c"] => @whole(@q)
show @all.join(" ")
`;
const INNER = 'main/for#0[1]/whole#0/for#0[0]/part#0';

async function project(
  sick: string,
  script = SCRIPT,
): Promise<{
  readonly run: (...flags: string[]) => ReturnType<typeof callCli>;
  readonly journal: (...words: string[]) => ReturnType<typeof callCli>;
  /** The calls of @part that were executed since the last look. */
  readonly executed: () => readonly string[];
  readonly cure: () => void;
}> {
  const cwd = await projectFolder({ 'job.mld': script, sick, log: '' });
  const log = path.join(cwd, 'log');
  return {
    run: (...flags) => callCli(['job.mld', ...flags], { cwd }),
    journal: (...words) => callCli(['journal', ...words], { cwd }),
    executed: () => {
      const lines = fs.readFileSync(log, 'utf8').split('\n').filter(Boolean);
      fs.writeFileSync(log, '');
      return lines.map((line) => line.replace('part ', '')).sort();
    },
    cure: () => fs.writeFileSync(path.join(cwd, 'sick'), ''),
  };
}

it('--resume failed executes what failed inside a call that had a result without it', async () => {
  const { run, executed, cure } = await project('b1\n');
  expect(await run('--checkpoint')).toMatchObject({ status: 4, stdout: 'P:a1+P:a2 P:b2 P:c1+P:c2\n' });
  expect(executed()).toHaveLength(6);
  cure();
  expect((await run('--resume', 'failed', '--plan')).stdout).toContain('@whole: 2 reused, 1 again (--resume failed)');
  const again = await run('--resume', 'failed');
  expect(again).toMatchObject({ status: 0, stdout: 'P:a1+P:a2 P:b1+P:b2 P:c1+P:c2\n' });
  expect(again.stderr).toContain(
    '--resume failed: 1 call has no result and will be executed, and 1 again that has such a call inside; 3 results are reused\n',
  );
  expect(executed()).toEqual(['b1']);
  expect((await run('--resume', 'failed')).stderr).toContain('no call is without a result; 3 results are reused');
  expect(executed()).toEqual([]);
});

it('a plain --resume counts what failed inside the calls whose results it reuses, until that has a result', async () => {
  const { run, journal, executed, cure } = await project('b1 c2\n');
  expect((await run('--checkpoint')).status).toBe(4);
  executed();
  for (const _ of [2, 3]) {
    const again = await run('--resume');
    expect(again).toMatchObject({ status: 4, stdout: 'P:a1+P:a2 P:b2 P:c1\n' });
    expect(again.stderr).toContain('3 calls: 3 reused (2 calls inside without a result), ');
    expect(again.stderr).toContain('; next: mlld job.mld --resume failed\n');
    const [listed] = JSON.parse((await journal('list', '--json')).stdout) as object[];
    expect(listed).toMatchObject({ status: 'incomplete', failed: 0, unresolved: 0, unresolvedBefore: 2 });
    const report = (await journal('postmortem', 'latest')).stdout;
    expect(report).toContain('2 calls of earlier runs that it builds on have no result');
    expect(report).toContain('--resume failed');
    expect((await journal('replay', 'latest')).status).toBe(0);
  }
  expect((await run('--resume', '--allow-failures')).status).toBe(0);
  expect(executed()).toEqual([]);
  cure();
  expect((await run('--resume', 'failed')).status).toBe(0);
  expect(executed()).toEqual(['b1', 'c2']);
  const last = await run('--resume');
  expect(last.status).toBe(0);
  expect(last.stderr).toContain('3 calls: 3 reused, ');
});

it('a call counts the ones that the results inside it were made without', async () => {
  const { run, executed, cure } = await project(
    'b1\n',
    SCRIPT.replace('var @all = for parallel(2) @q in ["a", "b", "c"] => @whole(@q)\nshow @all.join(" ")', '').concat(
      'exe llm @book(qs) = [\n  let @all = for @q in @qs => @whole(@q)\n  => @all.join(" ")\n]\nshow @book(["a", "b"])\n',
    ),
  );
  expect(await run('--checkpoint')).toMatchObject({ status: 4, stdout: 'P:a1+P:a2 P:b2\n' });
  executed();
  const edited = await run('--resume', '@book');
  expect(edited.status).toBe(4);
  expect(edited.stderr).toContain('3 calls: 2 reused (1 call inside without a result), 1 executed');
  expect((await run('--resume')).stderr).toContain('1 call: 1 reused (1 call inside without a result)');
  cure();
  expect(await run('--resume', 'failed')).toMatchObject({ status: 0, stdout: 'P:a1+P:a2 P:b1+P:b2\n' });
  expect(executed()).toEqual(['b1']);
});

it('--resume failed executes a call again that was made without a call inside, also where an equal call has a result', async () => {
  const { run, executed, cure } = await project(
    'b1\n',
    SCRIPT.replace('show @all', 'run cmd { sh -c ": > sick" }\nvar @single = @part("b1")\nshow @single\nshow @all'),
  );
  expect((await run('--checkpoint')).stdout).toBe('P:b1\nP:a1+P:a2 P:b2 P:c1+P:c2\n');
  executed();
  cure();
  expect((await run('--resume')).status).toBe(4);
  expect(await run('--resume', 'failed')).toMatchObject({ status: 0, stdout: 'P:b1\nP:a1+P:a2 P:b1+P:b2 P:c1+P:c2\n' });
  expect(executed()).toEqual([]);
});

it('a call that failed inside another one counts in its own run, also where an equal call elsewhere has a result', async () => {
  const { run, journal, cure } = await project(
    'shared\n',
    SCRIPT.replace('[1, 2] => @part(`@q@n`)', '["shared", `own@q`] => @part(@n)').replace(
      /var @all[^]*/,
      'var @x = @whole("x")\nrun cmd { sh -c ": > sick" }\nvar @y = @whole("y")\nshow `@x @y`\n',
    ),
  );
  const first = await run('--checkpoint');
  expect(first).toMatchObject({ status: 4, stdout: 'P:ownx P:shared+P:owny\n' });
  expect(first.stderr).toContain('6 calls: 5 executed, 1 failed (content), ');
  expect((await journal('postmortem')).stdout).toContain('1 x content refused in part');
  cure();
  expect(await run('--resume', 'failed')).toMatchObject({ status: 0, stdout: 'P:shared+P:ownx P:shared+P:owny\n' });
});

it('a call that one inside the other failed in counts in both, also where the outer one makes it again', async () => {
  const { run, cure } = await project(
    'shared\n',
    SCRIPT.replace('[1, 2] => @part(`@q@n`)', '["shared", `own@q`] => @part(@n)').replace(
      /var @all[^]*/,
      `exe llm @book(q) = [
  let @pages = @whole(@q)
  run cmd { sh -c ": > sick" }
  let @page = @part("shared")
  => \`@pages | @page\`
]
show @book("x")
`,
    ),
  );
  expect(await run('--checkpoint')).toMatchObject({ status: 4, stdout: 'P:ownx | P:shared\n' });
  cure();
  const again = await run('--resume');
  expect(again.status).toBe(4);
  expect(again.stderr).toContain('1 call: 1 reused (1 call inside without a result), ');
  expect(await run('--resume', 'failed')).toMatchObject({ status: 0, stdout: 'P:shared+P:ownx | P:shared\n' });
  expect((await run('--resume')).status).toBe(0);
});

/** Calls @part("shared"), which fails once: it gets well when the first execution of @whole has ended. */
const JUDGED = SCRIPT.replace('[1, 2] => @part(`@q@n`)', '["shared", `own@q`] => @part(@n)').replace(
  /  => @good[^]*/,
  `  run cmd { sh -c ": > sick" }
  => @good.join("+")
]
guard after @whole = when [ !@output.includes(@wanted) => retry "incomplete"
  * => allow ]
show @whole("x")
`,
);

it('what failed in an execution that a guard refused does not count', async () => {
  const { run, journal, executed, cure } = await project('shared\n', `var @wanted = "shared"\n${JUDGED}`);
  const first = await run('--checkpoint');
  expect(first).toMatchObject({ status: 0, stdout: 'P:shared+P:ownx\n' });
  expect(first.stderr).toContain('4 calls: 4 executed, 1 retry, ');
  expect(executed()).toEqual(['ownx', 'ownx', 'shared', 'shared']);
  const [listed] = JSON.parse((await journal('list', '--json')).stdout) as object[];
  expect(listed).toMatchObject({ status: 'completed', executed: 4, failed: 0, unresolved: 0 });
  expect((await journal('explain', 'latest')).stdout).toMatch(/^.*: 5 calls, 0 reused, 5 executed$/m);
  expect((await run('--resume')).status).toBe(0);
  cure();
  expect((await run('--resume', 'failed')).stderr).toContain('no call is without a result; 1 result is reused');
  expect(executed()).toEqual([]);
});

it('what failed in the execution that a guard requested counts, and not what failed in the one before', async () => {
  const { run, executed } = await project(
    'ownx\n',
    `var @wanted = "nothing"\n${JUDGED.replace('guard after', 'guard @polite after').replace('!@output.includes(@wanted)', '@mx.guard.try == 1')}`.replace(
      'sh -c ": > sick"',
      'sh -c "echo ownx shared > sick"',
    ),
  );
  const first = await run('--checkpoint');
  expect(first).toMatchObject({ status: 4, stdout: '\n' });
  expect(first.stderr).toContain('4 calls: 2 executed, 2 failed (content), 1 retry, ');
  executed();
  expect((await run('--resume')).stderr).toContain('1 call: 1 reused (2 calls inside without a result)');
  expect(executed()).toEqual([]);
});

it('a call that failed in a guard counts, and so it does where the result is reused that the guard allowed', async () => {
  const { run, journal, executed, cure } = await project(
    'judge\n',
    `${SCRIPT.replace(/exe llm @whole[^]*/, '')}exe llm @whole(q) = [
  let @p = @part(@q)
  => \`w @p\`
]
exe @judge(x) = [
  let @votes = for parallel(2) @n in ["judge"] => @part(@n)
  => true
]
guard after @whole = when [ @judge(@output) => allow
  * => deny "no" ]
show @whole("x")
`,
  );
  expect((await run('--checkpoint')).status).toBe(4);
  const again = await run('--resume');
  expect(again.status).toBe(4);
  expect(again.stderr).toContain('1 call: 1 reused (1 call inside without a result)');
  expect((await journal('replay', 'latest')).status).toBe(0);
  executed();
  cure();
  expect((await run('--resume', 'failed')).status).toBe(0);
  expect(executed()).toEqual(['judge']);
  expect((await run('--resume')).status).toBe(0);
});

it('counts once what a result was made without that is reused in several places', async () => {
  const { run } = await project('x1\n', SCRIPT.replace(/var @all[^]*/, 'var @a = @whole("x")\nvar @b = @whole("x")\nshow `@a @b`\n'));
  const first = await run('--checkpoint');
  expect(first.stderr).toContain('1 failed (content)');
  expect((await run('--resume')).stderr).toContain('2 calls: 2 reused (1 call inside without a result)');
});

it('--resume failed leaves a call alone that accepts the failure of a call inside', async () => {
  const { run, executed } = await project('b1\n', SCRIPT.replace(/(echo "P:\$q" \})/, '$1 with { onFailure: "marker" }'));
  expect((await run('--checkpoint')).status).toBe(0);
  expect(executed()).toHaveLength(6);
  expect((await run('--resume', 'failed')).stderr).toContain('3 calls: 3 reused');
  expect(executed()).toEqual([]);
});

it.each([
  ['a path', INNER],
  ['an exact argument', '@part(= "b1")'],
])('--resume with %s executes a call inside another one', async (_, target) => {
  const { run, executed } = await project('');
  expect((await run('--checkpoint')).status).toBe(0);
  expect(executed()).toHaveLength(6);
  expect((await run('--resume', target)).stderr).toContain('2 of 5 calls will run again');
  expect(executed()).toEqual(['b1']);
});

it('journal reject marks the results of the calls around, and takes their marks back', async () => {
  const { run, journal, executed } = await project('');
  await run('--checkpoint');
  expect(executed()).toHaveLength(6);
  const rejected = await journal('reject', 'job', INNER, '--reason', 'too short');
  expect(rejected.stdout).toContain(`at ${INNER} of run`);
  expect(rejected.stdout).toContain(', and with it that of the call of @whole around it: they are executed again');
  const restored = JSON.parse((await journal('reject', 'job', INNER, '--undo', '--json')).stdout) as unknown;
  expect(restored).toMatchObject({ marked: 'restored', isUsable: true, around: ['whole'] });
  expect((await run('--resume')).stderr).toContain('3 calls: 3 reused');
  expect(executed()).toEqual([]);
  await journal('reject', 'job@2', INNER, '--reason', 'too short');
  expect((await run('--resume', 'failed')).stderr).toContain('5 calls: 3 reused, 2 executed');
  expect(executed()).toEqual(['b1']);
  expect((await journal('explain', 'job')).stdout).toMatch(
    /main\/for#0\[1\]\/whole#0 @whole\(b\) executed: its result was rejected on .*: too short/,
  );
});
