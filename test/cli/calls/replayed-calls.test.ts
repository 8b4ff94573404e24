/** Runs whose calls failed, waited or were tried again are replayed as they were. calls.md 17. */
import fs from 'node:fs';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const CONFIG = '{ "calls": { "backoff": { "first": "5ms", "max": "10ms" } } }';

/** Fails so many times before it prints `then`: each execution leaves a line in `log`. */
function failing(times: number, then: string, failure = 'echo "503 overloaded" >&2; exit 1'): string {
  return `sh { echo x >> log; if [ $(wc -l < log) -le ${times} ]; then ${failure}; fi; ${then} }`;
}

const SCRIPTS: readonly (readonly [what: string, script: string, shown?: string])[] = [
  [
    'failed by the clock, in a command',
    `exe llm @ask(q) = sh { sleep 20 } with { timeout: 300ms, retries: 0, onFailure: "marker" }\nvar @a = @ask("ebb")\nshow \`@a.class @a.attempts\``,
    'timeout 1',
  ],
  [
    'failed by the clock in the middle of their body, and others went on',
    `exe llm @ask(q) = [\n  let @a = sh { echo one }\n  let @b = sh { sleep 20 }\n  => @b\n] with { timeout: 600ms, retries: 0 }
exe llm @fine(q) = sh { echo "F:$q" }\nvar @r = for parallel(2) @i in ["a", "b"] => when [ @i == "a" => @ask(@i); * => @fine(@i) ]\nshow \`@r[0].class @r[1]\``,
    'timeout F:b',
  ],
  [
    'ran out of time between two calls of their body',
    `exe llm @ask(q) = js { return "A:" + q }\nexe @pause() = sh { sleep 0.9 }\nhook @h after @ask = [ run @pause() ]
exe llm @both(q) = [\n  let @a = @ask(@q)\n  let @b = @ask(@a)\n  => @b\n] with { timeout: 600ms, retries: 0, onFailure: "marker" }\nshow @both("ebb").class`,
    'timeout',
  ],
  [
    'ran out of time while a command of a call inside them ran',
    `exe llm @ask(q) = sh { sleep 20 }\nexe llm @around(q) = [\n  let @a = @ask(@q)\n  => @a\n] with { timeout: 700ms, retries: 0, onFailure: "marker" }
show @around("ebb").class`,
    'timeout',
  ],
  [
    'ran out of time in a call inside them that would have gone on',
    `exe @first() = js { await new Promise((r) => setTimeout(r, 1500)); return 1 }
exe llm @ask(q) = [\n  let @a = @first()\n  let @b = sh { echo hi }\n  => @b\n]
exe llm @around(q) = [\n  let @a = @ask(@q)\n  => @a\n] with { timeout: 500ms, retries: 0, onFailure: "marker" }
exe @rest() = sh { sleep 2 }\nvar @a = @around("ebb")\nrun @rest()\nshow @a.class`,
    'timeout',
  ],
  [
    'failed by the clock in code',
    `exe llm @ask(q) = node { await new Promise((r) => setTimeout(r, 4000)); return 1 } with { timeout: 300ms, retries: 0, onFailure: "marker" }\nshow \`@ask("ebb").class\``,
    'timeout',
  ],
  [
    'were failed by their code',
    `exe llm @ask(q) = js { mlld.usage({ costUsd: 0.5 }); mlld.fail("content", "not this", { retryAfterMs: 3 }) } with { onFailure: "marker" }\nvar @a = @ask("ebb")\nshow \`@a.message @a.retryAfterMs @mx.cost\``,
    'content: not this 3 0.5',
  ],
  [
    'were failed by their code, which returned a value all the same',
    `exe llm @ask(q) = js { try { mlld.fail("budget", "over") } catch {} return "fine" } with { onFailure: "marker" }\nshow \`@ask("ebb").message\``,
    'budget: over',
  ],
  [
    'were failed by a program',
    `exe llm @ask(q) = sh { echo '{"fail":{"class":"overloaded","message":"full"}}' >> $MLLD_CALL_REPORT; echo ok } with { retries: 1, onFailure: "marker" }\nshow \`@ask("ebb").message @mx.usage.attempts\``,
    'overloaded: full 2',
  ],
  [
    'failed in other classes before',
    `exe llm @ask(q) = ${failing(1, 'exit 3')} with { onFailure: "marker" }\nvar @a = @ask("ebb")\nshow \`@a.message @a.attempts\``,
    'overloaded, then crash: exit status 3 2',
  ],
  [
    'see which attempt they are',
    `exe llm @ask(q) = when [ @mx.call.try == 1 => @work(); * => \`@mx.call.try @mx.call.class\` ] with { retries: 2 }
exe @work() = js { throw Object.assign(new Error("busy"), { status: 529 }) }\nshow @ask("ebb")`,
    '2 overloaded',
  ],
  [
    'are told why their result was refused',
    `exe llm @ask(q) = ${failing(1, 'printf \'{"mark": 3, "told": %s}\' "$(printf "%s" "$q" | wc -l)"', "echo '{}'; exit 0")} with { schema: { "type": "object", "required": ["mark", "told"] } }\nvar @a = @ask("ebb")\nshow \`@a.mark @a.told\``,
    '3 3',
  ],
  [
    'are told why their result was refused, also after an attempt without a reply',
    `exe llm @ask(q) = sh { echo x >> log; case $(($(wc -l < log))) in 1) echo '{}';; 2) echo 503 >&2; exit 1;; *) printf '{"mark": 3, "told": %s}' "$(printf "%s" "$q" | wc -l)";; esac } with { schema: { "type": "object", "required": ["mark", "told"] } }\nvar @a = @ask("ebb")\nshow \`@a.mark @a.told\``,
    '3 3',
  ],
  [
    'say themselves why their result was refused',
    `exe llm @ask(q) = when [ @mx.call.problem => \`["@mx.call.problem.length"]\`; * => "[1]" ] with { schema: { "type": "array", "items": { "type": "string" } } }\nshow \`@ask("ebb")\``,
    '["1"]',
  ],
  [
    'have their result from an adapter',
    `exe llm @ask(q) = cmd { echo '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"[1,2]","total_cost_usd":0.25}' } with { reply: "claude" }\nvar @a = @ask("ebb")\nshow \`@a[1] @a.mx.cost @a.mx.session @mx.usage.executed\``,
    '2 0.25 s 1',
  ],
  [
    'failed by their reply',
    `exe llm @ask(q) = cmd { echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"busy"}' } with { reply: "claude", retries: 1, onFailure: "marker" }\nshow \`@ask("ebb").message\``,
    'overloaded: busy',
  ],
  [
    'pass on what was printed',
    `exe llm @ask(q) = sh { echo partly; exit 3 } with { onFailure: "value" }\nshow \`@ask("ebb") @mx.usage.failed\``,
    'partly 1',
  ],
  [
    'let others start while they are tried again',
    `exe llm @ask(q) = sh { echo x >> "log-$q"; if [ "$q" = a ] && [ $(wc -l < log-a) = 1 ]; then echo "503 overloaded" >&2; exit 1; fi; echo "R:$q" } with { retries: 2 }
var @r = for parallel(3) @i in ["a", "b", "c"] => @ask(@i)\nshow \`@r.join(" ") @mx.usage.attempts @mx.usage.unpriced\``,
    'R:a R:b R:c 4 3',
  ],
];

it.each(SCRIPTS)('replays calls that %s', async (_, script, shown) => {
  const cwd = await projectFolder({ 'job.mld': `${script}\n`, 'mlld-config.json': CONFIG });
  const { stdout, stderr } = await callCli(['job.mld', '--checkpoint', '--allow-failures'], { cwd });
  expect({ stdout, error: /error: .*/.exec(stderr)?.[0] }).toEqual({ stdout: `${shown}\n`, error: undefined });
  const replayed = await callCli(['journal', 'replay', 'latest', '--json'], { cwd });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ verdict: 'same', divergences: [] });
});

it('replays what the reuse of a result has saved', async () => {
  const script =
    'exe llm @ask(q) = js { mlld.usage({ costUsd: 0.5 }); return "A:" + q }\nvar @a = @ask("ebb")\nshow `@a @mx.usage.savedUsd @mx.usage.reused`\n';
  const cwd = await projectFolder({ 'job.mld': script });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  expect((await callCli(['job.mld', '--resume'], { cwd })).stdout).toBe('A:ebb 0.5 1\n');
  const replayed = await callCli(['journal', 'replay', 'latest', '--json'], { cwd });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ verdict: 'same' });
});

it.each([
  ['alone', '@ask("ebb")'],
  ['first of a loop', 'for parallel(2) @i in ["ebb", "b", "c"] => @other(@i)'],
])('replays a paused run up to where it paused: its call waits %s', async (_, calls) => {
  const script = `exe llm @ask(q) = js { mlld.fail("quota", "used up") }
exe llm @fine(q) = sh { echo "F:$q" }\nexe @other(q) = when [ @q == "ebb" => @ask(@q); * => @fine(@q) ]\nshow @fine("first")\nvar @r = ${calls}\nshow @r\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { stdout, status } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect({ stdout, status }).toEqual({ stdout: 'F:first\n', status: 5 });
  const replayed = await callCli(['journal', 'replay', 'latest', '--json'], { cwd });
  expect(JSON.parse(replayed.stdout)).toMatchObject({ verdict: 'same', status: 'paused', divergences: [] });
});

it('is the same for a resumed pipeline whose backend made a call that the run before had made', async () => {
  const cwd = await projectFolder({
    'm.mld': `exe llm @first(t) = js { return "first of " + t.length }
exe llm @second(t) = js { return "second of " + t }
exe llm @model(prompt, node, context) = [
  let @a = @first(@prompt)
  => @second(@a)
]
export { @model }
`,
    'p.dot':
      'digraph p { start [shape=Mdiamond]; a [prompt="write", backend="exe:m.mld#model"]; done [shape=Msquare]; start -> a -> done }',
  });
  expect((await callCli(['run', 'p.dot'], { cwd })).status).toBe(0);
  const [file = ''] = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true });
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  const end = lines.findIndex((line) => line.includes('"type":"call.completed"') && line.includes('/first#0"'));
  fs.writeFileSync(file, `${lines.slice(0, end + 1).join('\n')}\n`); // as a kill leaves it
  expect((await callCli(['run', 'p.dot', '--resume'], { cwd })).stderr).toContain('1 reused');
  const { stderr, status } = await callCli(['journal', 'replay', 'latest'], { cwd });
  expect(status, stderr).toBe(0);
});
