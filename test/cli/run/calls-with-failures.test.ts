/** Calls whose arguments have a failed call in them, and functions that accept failures. calls.md 5.3 to 5.5. */
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../../support/cli.js';

/** `@review("two")` fails; `@conclude` leaves a line in `concluded` for each execution. */
const FUNCTIONS = `exe llm @review(q) = sh { if [ "$q" = two ]; then echo "503 overloaded" >&2; exit 1; fi; echo "R:$q" } with { retries: 0 }
exe llm @conclude(t) = sh { echo "$t" >> concluded; echo "C:$t" }
exe @code(x) = js { return "made by code" }
exe @text(x) = \`text: @x\`
exe @total(list) = [
  let @sum = 0
  for @x in @list => @sum += @x * 2
  => @sum
]
var @rs = for parallel(1) @i in ["one", "two"] => @review(@i)
`;

async function run(script: string, functions = FUNCTIONS): Promise<CliResult> {
  return callCli(['job.mld'], { cwd: await projectFolder({ 'job.mld': functions + script }) });
}

async function eventsOf(cwd: string): Promise<{ readonly type: string }[]> {
  const { stdout } = await callCli(['journal', 'show', 'latest', '--json'], { cwd });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string });
}

/** `value` may end in ` . ` and what is read of the variable that holds the rest. */
function concluded(value: string): Promise<CliResult> {
  const [held = '', read = ''] = value.split(' . ');
  return run(`var @v = ${held}\nshow @conclude(@v${read})\n`);
}

const WITH_FAILURE: readonly (readonly [what: string, value: string])[] = [
  ['a marker', '@rs[1]'],
  ['an array', '@rs'],
  ['a member of an object in an object', '{ a: { b: @rs } }'],
  ['a template', '`all: @rs[1]`'],
  ['a text of a template, trimmed', '`  @rs[1] ` . .trim()'],
  ['a part of a text', '`all: @rs` . .slice(0, 3)'],
  ['a joined array', '@rs.join("+")'],
  ['texts that a text was split into', '`@rs[1],b` . .split(",")[1]'],
  ['an element of an array of texts', '[`x @rs[1]`, "b"] . [0]'],
  ['the text in an object', '{ a: `x @rs[1]` } . .a'],
  ['a text of a loop', 'for @r in @rs => `x @r` . [1]'],
  ['a template function', '@text(@rs)'],
  ['a stage', '@rs | @upper'],
  ['JSON', '@rs | @json'],
  ['a view of the value', '@rs.mx.text'],
  ['a sum', '@rs[1] + 1'],
  ['a product of a difference', '2 * (@rs[1] - 1)'],
  ['a number that a loop added up', '@total(@rs)'],
  ['a member that the result would have', '@rs[1].finding'],
  ['a member below that', '@rs[1].finding.line'],
  ['that member by its name', '@rs[1] . ["finding"]'],
  ['a text of it', 'for @r in [@rs[1]] => `- @r.finding` . .join("+")'],
  ['a sum of it', '@rs[1].mark + 1'],
  ['an object with it', '{ a: @rs[1].finding }'],
  ['an object into which it was spread', 'for @r in [@rs[1]] => { ...@r, more: 1 }'],
];

it.each(WITH_FAILURE)('executes no call whose argument is %s with a failed call in it', async (_, value) => {
  const { stdout, stderr } = await concluded(value);
  expect(stdout).toBe('');
  expect(stderr).toContain('@conclude was not executed');
});

const WHOLE: readonly (readonly [what: string, value: string, shown: string])[] = [
  ['another element', '@rs[0]', 'C:R:one'],
  ['the array without what failed', 'for @r in @rs when !@r.mx.failed => @r . .join("+")', 'C:R:one'],
  ['what code made of it', '@code(@rs)', 'C:made by code'],
  ['a slice without the failure', '@rs.slice(0, 1).join("+")', 'C:R:one'],
  ['another element of an array of texts', '[`x @rs[1]`, "b"] . [1]', 'C:b'],
  ['what failed, to call it otherwise', '@rs[1].value', 'C:two'],
  ['a member that says what failed', '@rs[1].class', 'C:overloaded'],
  ['what stands for a member of no result', '@rs[1].finding ?? "none"', 'C:none'],
  ['the length of the array', '@rs.length', 'C:2'],
  ['a comparison', '@rs[1] == "x"', 'C:false'],
];

it.each(WHOLE)('executes a call with %s', async (_, value, shown) => {
  const { stdout } = await concluded(value);
  expect(stdout).toBe(`${shown}\n`);
});

it('says why a call was not executed, and records the paths', async () => {
  const cwd = await projectFolder({ 'job.mld': `${FUNCTIONS}show @conclude(@rs)\n` });
  const { stderr, status } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain('@conclude was not executed: 1 of its inputs has no result: @review("two"), overloaded: 503 overloaded');
  const failed = (await eventsOf(cwd)).filter(({ type }) => type === 'call.failed');
  expect(failed).toMatchObject([
    { class: 'overloaded' },
    { class: 'upstream', fn: 'conclude', upstream: ['main/for#0[1]/review#0'], elapsedMs: 0 },
  ]);
});

it('executes a function that takes failures', async () => {
  const { stdout } = await run('exe llm @sum(t) = sh { echo "sum" } with { partial: true }\nshow @sum(@rs)\n');
  expect(stdout).toBe('sum\n');
});

it('remembers no result that has the failure of another call in it', async () => {
  const script = `${FUNCTIONS}exe llm @all() = [\n  let @r = for parallel(1) @i in ["one", "two"] => @review(@i)\n  => @r\n]\nshow @all().length\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  const ended = (await eventsOf(cwd)).filter(({ type }) => type === 'call.completed').at(-1);
  expect(ended).toMatchObject({ unusable: 'it has the failure of another call in it' });
});

it('gives a marker instead of the error where the function wants one, inside loops with the place', async () => {
  const { stdout, stderr, status } = await run(
    'var @a = @try("ebb")\nshow `@a.class @a.value @a.index @a.mx.failed`\nvar @l = for @i in ["x", "y"] => @try(@i)\nshow `@l[1].index @l[1].key @l[1].value`\nshow `@mx.errors.length`\n',
    'exe llm @try(q) = sh { echo partial; exit 3 } with { onFailure: "marker" }\n',
  );
  expect({ stdout, status }).toEqual({ stdout: 'crash ebb null true\n1 1 y\n0\n', status: 0 });
  expect(stderr).toMatch(/^3 calls: 3 accepted, cost unknown, \S+\n$/);
});
