/** Holds parallel loops and groups to what they make of failed calls. calls.md 3.2, 5.2 and 5.6. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

/** Fails for items that begin with the name of a class. */
const ASK = `exe llm @ask(q) = sh {
  case "$q" in
    overloaded*) echo "503 overloaded" >&2; exit 1;;
    network*) echo "connection refused" >&2; exit 1;;
    crash*) echo "no $q" >&2; exit 3;;
  esac
  echo "A:$q"
} with { retries: 0 }
`;

async function run(script: string): Promise<CliResult> {
  return callCli(['job.mld'], { cwd: await projectFolder({ 'job.mld': ASK + script }) });
}

it('puts the failures of a loop together by class, with the first three items', async () => {
  const { stderr } = await run(
    'var @r = for parallel(1) @i in ["ok", "overloaded1", "network1", "overloaded2", "overloaded3", "overloaded4", "overloaded5"] => @ask(@i)\nshow @r.length\n',
  );
  expect(stderr).toMatch(
    /^warning: for parallel: 5 of 7 failed: @ask, overloaded: "overloaded1", "overloaded2", "overloaded3" \(503 overloaded\), … and 2 more \(job\.mld:9:\d+\)$/m,
  );
  expect(stderr).toMatch(/^warning: for parallel: 1 of 7 failed: @ask, network: "network1" \(connection refused\)/m);
  expect(stderr).not.toContain('overloaded4');
});

it('names the first items of the loop, whichever failed first', async () => {
  const script = [
    'exe llm @late(q) = sh {',
    '  if [ "$q" = good ]; then exit 0; fi',
    '  if [ "$q" = slow ]; then i=0; while [ ! -e three ] && [ $i -lt 500 ]; do sleep 0.02; i=$((i + 1)); done; else echo >> two; fi',
    '  if [ "$(wc -l < two)" -ge 3 ]; then echo > three; fi',
    '  echo "no tide" >&2; exit 3',
    '} with { retries: 0 }',
    'var @r = for parallel(2) @i in ["good", "slow", "b", "c", "d"] => @late(@i)',
    '',
  ];
  const { stderr } = await run(script.join('\n'));
  expect(stderr).toMatch(/4 of 5 failed: @late, crash: "slow", "b", "c" \(no tide\), … and 1 more/);
});

it('warns of the calls that failed before an error ends the loop', async () => {
  const { stderr } = await run(
    'exe @one(i) = [\n  if @i == "last" [ bail "enough" ]\n  => @ask(@i)\n]\nvar @r = for parallel(1) @i in ["ok", "overloaded1", "last"] => @one(@i)\n',
  );
  expect(stderr).toContain('1 of 3 failed: @ask, overloaded: "overloaded1"');
  expect(stderr).toContain('enough');
});

it('warns of the failed calls of a loop that is a statement, and of a group', async () => {
  const { stdout, stderr } = await run(
    'for parallel(1) @i in ["ok", "overloaded1"] => show @ask(@i)\nvar @g = || @ask("fine") || @ask("network2")\nshow `@g[0] @g[1].class @g[1].mx.failed`\n',
  );
  expect(stdout).toBe('A:ok\nA:fine network true\n');
  expect(stderr).toContain('for parallel: 1 of 2 failed: @ask, overloaded: "overloaded1"');
  expect(stderr).toContain('parallel group: 1 of 2 failed: @ask, network: "network2" (connection refused)');
});

it('makes markers with the class, whose message begins with the class in words', async () => {
  const { stdout } = await run(
    'var @r = for parallel(1) @i in ["ok", "crash1"] => @ask(@i)\nshow `@r[1].message; @r[1].error; @r[1].class @r[1].attempts @r[1].fn @r[1].index @r[1].key @r[1].value`\nshow `@mx.errors[0].class @mx.errors[0].mx.failed @r[0].mx.failed`\n',
  );
  expect(stdout).toBe('crash: no crash1; crash: no crash1; crash 1 ask 1 1 crash1\ncrash true false\n');
});

it('cuts what a marker says of the reply after 200 units', async () => {
  const { stdout } = await run(
    'exe llm @long(q) = js { if (q === "b") throw new Error("x".repeat(500) + "\\nsecond line"); return q }\nvar @r = for parallel(1) @i in ["a", "b"] => @long(@i)\nshow @r[1].message.length\nshow @r[1].message.includes("second")\n',
  );
  expect(stdout).toBe('200\nfalse\n');
});

it('ends a loop whose first element crashes, and not one whose first element fails otherwise', async () => {
  const crashed = await run('var @r = for parallel(2) @i in ["crash1", "ok"] => @ask(@i)\nshow @r.length\n');
  expect(crashed).toMatchObject({ stdout: '', status: 1 });
  expect(crashed.stderr).toContain('@ask("crash1") failed: crash: no crash1');
  const other = await run('var @r = for parallel(2) @i in ["overloaded1", "ok"] => @ask(@i)\nshow `@r[0].class @r[1]`\n');
  expect(other.stdout).toBe('overloaded A:ok\n');
});

it('starts the other elements when the first attempt of the first one has failed otherwise than by a crash', async () => {
  // The second attempt of `a` needs `b` to have begun; the loop around has one more element after this one.
  const { stdout } = await run(`exe llm @pair(q) = sh {
  if [ "$q" = b ]; then touch b.begun; echo "B"; exit 0; fi
  if [ ! -e a.failed ]; then touch a.failed; echo "connection refused" >&2; exit 1; fi
  for i in $(seq 100); do [ -e b.begun ] && echo "A" && exit 0; sleep 0.1; done
  echo "alone" >&2; exit 1
} with { retries: 1 }
var @r = for parallel(2) @i in ["a", "b"] => @pair(@i)
show \`@r[0] @r[1]\`
`);
  expect(stdout).toBe('A B\n');
});
