/** Scripts that carry a secret through every construct leave no trace of it in `.mlld`, in any spelling. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const KEY = randomBytes(32).toString('hex');

/** `@token` is the secret; `CANARY` in a script is its text. */
const SCRIPTS: readonly (readonly [title: string, script: string])[] = [
  ['a literal', 'var secret @pin = "CANARY"\nshow @pin'],
  ['a function', 'exe secret @pin() = `CANARY`\nshow @pin()'],
  ['an escaped literal', 'var secret @pin = "CANARY\\"\\n"\nshow @pin'],
  ['a template', 'var @line = `key: @token`\nshow @line'],
  ['a collection', 'var @all = { deep: [@token] }\nshow @all\nshow @ask(@all)'],
  ['a question', 'show @ask(@token)\nshow @ask(`about @token`)'],
  ['a wrapper', 'exe llm @wrap(q) = @ask(@q, @token)\nshow @wrap("x")'],
  ['a captured variable', 'exe llm @captures(q) = `@q @token`\nshow @captures("x")'],
  ['a command of its own', 'var llm @out = cmd { echo "@token" }\nshow @out'],
  ['a command', 'run cmd { echo "@token" }\nrun sh { echo hello }\nvar @out = cmd { echo "@token" }\nshow @out'],
  ['a command that fails', 'var @out = cmd { sh -c "echo @token; exit 3" }\nshow @out'],
  ['code', 'exe @upper(v) = js { return Buffer.from(v).toString("base64") }\nshow @upper(@token)'],
  ['a shell function', 'exe @shell(v) = sh { echo "$v" | rev }\nshow @shell(@token)'],
  ['an error', 'exe @boom(v) = js { throw new Error("bad " + v.toLowerCase() + " " + v) }\nshow @boom(@token)'],
  ['a question that fails', 'exe llm @boom(v) = js { throw new Error("bad " + v.split("").join(" ") + v) }\nshow @boom(@token)'],
  [
    'a question that fails with what it made of it, and is asked again',
    'exe llm @boom(v) = js { throw new Error(v.slice(0, 14) + " " + v.toLowerCase()) } with { retries: { crash: 1 } }\nshow @boom(@token)',
  ],
  [
    'a question that does not have it, and fails with a piece of it',
    `var @known = \`@token\`
exe llm @boom(q) = js { throw new Error("bad " + process.env.MLLD_TOKEN.slice(0, 14)) } with { retries: { crash: 1 }, onFailure: "marker" }
var @marker = @boom("x")`,
  ],
  ['a file', 'output @token to "o.txt"\nappend @token to "o.jsonl"\nvar @back = <o.txt>\nshow @back\nshow @ask(@back)'],
  ['streams', 'log @token\noutput @token to stderr\noutput @token to env:MLLD_OUT'],
  ['loops', 'var @r = for parallel(2) @x in [@token, "b"] => @ask(@x)\nshow @r.join(" ")\nfor @x in [@token] => show @x'],
  [
    'a parallel loop that fails',
    'exe @boom(v) = js { throw new Error(v) }\nvar @r = for parallel(2) @x in [@token, "b"] => @boom(@x)\nshow @mx.errors',
  ],
  ['a loop block', 'loop(2) [\n  show `@token`\n  continue\n]'],
  ['pipelines', 'exe @tag(v) = `<@v>`\nvar @r = @token | @tag | @upper\nshow @r\nvar @s = @ask(@token) | @tag\nshow @s'],
  [
    'hooks',
    'hook @h before @ask = [ append `@input` to "audit.log" ]\nexe @bad(v) = js { throw new Error(v) }\nhook @b after @ask = [ show @bad(@output) ]\nshow @ask(@token)',
  ],
  ['a guard', 'guard @g before secret = when [ @mx.op.name == "ask" => deny "no secrets" ; * => allow ]\nshow @ask(@token)'],
  ['a guard that changes it', 'guard @g before @ask = when [ * => allow `changed @input` ]\nshow @ask(@token)'],
  ['a missing file', 'var @x = <nowhere/@token>\nshow @x'],
  ['bail', 'bail `gone: @token`'],
  ['a module', 'import { @inner } from "./m.mld"\nshow @ask(@inner)'],
  [
    'a long command that a guard lets pass',
    `exe llm @run(v) = cmd { sh -c "true ${'p'.repeat(970)} @v; echo fine" }
guard privileged after @run = when [ * => allow with { removeLabels: ["secret"] } ]
show @run(@token)`,
  ],
  [
    'long paths',
    [120, 132, 144, 156, 168, 180]
      .map((n) => `var @x${n} = <./${'p'.repeat(n)}/@token>?\noutput "x" to "${'p'.repeat(n)}/@token"`)
      .join('\n'),
  ],
  [
    'a long variable that a question captures',
    `exe @plain() = js { return "${'p'.repeat(60)}" + process.env.MLLD_TOKEN }\nvar @long = @plain()\nexe llm @uses(q) = \`@q @long.length\`\nshow @uses("x")`,
  ],
  [
    'a reply that fails, its session and its lane',
    `exe llm @try(v) = cmd { printf '%s' '{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"bad @v","session_id":"@v"}' } with { reply: "claude", lane: "l/@v", retries: { overloaded: 1 }, onFailure: "marker" }
show @try(@token)`,
  ],
  [
    'a reply of a call that does not have it',
    `var @known = \`@token\`
exe llm @say(q) = sh { echo "reply with $MLLD_TOKEN"; exit 3 } with { onFailure: "marker" }
show @say("x")
exe llm @stop(q) = js { mlld.fail("quota", "used up by " + process.env.MLLD_TOKEN) }
show @stop("x")`,
  ],
  [
    'the rules that a result broke',
    `exe llm @grade(v) = sh { printf '{"%s": 1}' "$v" } with { schema: { "type": "object", "additionalProperties": false }, retries: { "bad-reply": 1 } }
show @grade(@token)`,
  ],
  ['a long item', `exe @plain() = js { return ["${'p'.repeat(240)}" + process.env.MLLD_TOKEN] }\nfor @x in @plain() => show "x"`],
  ['a value worked out for it', 'var secret @pin = @ask("CANARY")\nvar secret @other = cmd { echo CANARY }\nshow @other'],
];

async function project(script: string, canary: string): Promise<string> {
  const text = [
    'import { MLLD_TOKEN } from @input',
    'var secret @token = @MLLD_TOKEN',
    'exe llm @ask(q, more) = js { return "A:" + q + (more ?? "") }',
    script,
  ]
    .join('\n')
    .replaceAll('CANARY', canary);
  return projectFolder({ 'job.mld': `${text}\n`, 'm.mld': `var secret @inner = '${canary}'\nexport { @inner }\n` });
}

function spellings(canary: string): string[] {
  const base64 = Buffer.from(canary).toString('base64').replace(/=+$/, '').slice(0, -2);
  return [
    canary.slice(0, 'Canary'.length + 6),
    canary.toLowerCase(),
    [...canary].reverse().join(''),
    base64,
    Buffer.from(canary).toString('hex'),
  ];
}

function leaksIn(folder: string, canary: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(path.join(folder, file)).isFile());
  expect(files.some((file) => file.endsWith('.ndjson'))).toBe(true);
  return files.flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'latin1');
    return spellings(canary).flatMap((spelling) =>
      text.includes(spelling) ? [`${file}: ${text.split('\n').find((line) => line.includes(spelling))}`] : [],
    );
  });
}

it.concurrent.each(
  SCRIPTS.flatMap(([title, script]) =>
    (['the key of the project', 'a given key', 'none'] as const).map((key) => [title, key, script] as const),
  ),
)('keeps a secret out of the journal: %s, with %s', async (_title, key, script) => {
  const canary = `Canary${randomBytes(9).toString('hex')}`;
  const cwd = await project(script, canary);
  const env = { MLLD_TOKEN: canary, ...(key === 'the key of the project' ? {} : { MLLD_JOURNAL_KEY: key === 'none' ? 'none' : KEY }) };
  await callCli(['job.mld', '--checkpoint'], { cwd, env });
  await callCli(['job.mld', '--resume'], { cwd, env });
  expect(leaksIn(path.join(cwd, '.mlld'), canary)).toEqual([]);
  const [shown, inspected] = await Promise.all([
    callCli(['journal', 'show', 'job', '--json'], { cwd }),
    callCli(['checkpoint', 'inspect', 'job'], { cwd }),
  ]);
  expect(shown.status).toBe(0);
  expect(shown.stdout + inspected.stdout).not.toContain(canary);
});
