/** A plan under `--changed` counts what the run then executes. workflows-js.md 6.3 and 7. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openMemoryStore, workflow, type PlanReport } from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const SCRIPT = `export const meta = { name: 'job', description: 'x' }
return await parallel([
  () => agent('plain', { label: 'plain' }),
  () => agent('with a model', { label: 'model', model: 'opus' }),
  () => agent('with a type', { label: 'type', agentType: 'reviewer' }),
  () => agent('by another', { label: 'other', backend: 'cmd:echo other' }),
])
`;

const AGENT = { backend: 'simulated', backends: ['cmd:echo other'] };
const CONFIG = JSON.stringify({ agent: AGENT });

async function project(): Promise<{ readonly cwd: string; readonly run: (...words: string[]) => ReturnType<typeof callCli> }> {
  const cwd = await projectFolder({ 'mlld-config.json': CONFIG, 'job.js': SCRIPT });
  mkdirSync(join(cwd, '.claude', 'agents'), { recursive: true });
  writeFileSync(join(cwd, '.claude', 'agents', 'reviewer.md'), 'Be strict.');
  return { cwd, run: (...words) => callCli(['run', 'job.js', ...words], { cwd }) };
}

it.each([
  ['another default model', ['--model', 'haiku'], ['plain', 'type', 'other']],
  ['another default backend', ['--backend', 'cmd:echo done'], ['plain', 'model', 'type'], ['--backend', 'cmd:echo first']],
  ['another definition of the agent', [], ['type']],
  ['a trial', ['--backend', 'simulated'], ['other']],
])('counts the calls that --changed ask executes again: %s', async (what, words, again, first: readonly string[] = []) => {
  const { cwd, run } = await project();
  expect(await run(...first)).toMatchObject({ status: 0 });
  if (what.includes('definition')) writeFileSync(join(cwd, '.claude', 'agents', 'reviewer.md'), 'Be kind.');
  const planned = await run(...words, '--changed', 'ask', '--plan', '--json');
  const plan = JSON.parse(planned.stdout) as { readonly reused: number; readonly toExecute: readonly { readonly label: string }[] };
  expect(plan).toMatchObject({ reused: 4 - again.length, notices: [] });
  expect(plan.toExecute.map(({ label }) => label).sort()).toEqual([...again].sort());
  expect(await run(...words, '--plan')).toMatchObject({ stdout: expect.stringContaining('4 reused, 0 to execute') as string });
  const { stderr } = await run(...words, '--changed', 'ask');
  expect(stderr).toContain(`4 calls: ${4 - again.length} reused, ${again.length} executed`);
});

it('counts the calls of a backend that is a function which was edited, or a guard of its module', async () => {
  const ask = 'exe llm @ask(prompt, options) = sh { echo "$prompt" }\nguard @short before op:sh = when [ * => allow ]\nexport { @ask }\n';
  const cwd = await projectFolder({
    'mlld-config.json': JSON.stringify({ agent: { backend: 'exe:ask.mld#ask' } }),
    'job.js': `export const meta = { name: 'job', description: 'x' }\nreturn [await agent('one'), await agent('two', { backend: 'simulated' })]\n`,
    'ask.mld': ask,
  });
  const planned = async (): Promise<unknown> => {
    const { stdout } = await callCli(['run', 'job.js', '--changed', 'ask', '--plan', '--json'], { cwd });
    return (JSON.parse(stdout) as { readonly toExecute: readonly { readonly prompt: string }[] }).toExecute.map(({ prompt }) => prompt);
  };
  expect(await callCli(['run', 'job.js'], { cwd })).toMatchObject({ status: 0 });
  expect(await planned()).toEqual([]);
  writeFileSync(join(cwd, 'ask.mld'), ask.replace('echo', 'echo new'));
  expect(await planned()).toEqual(['one']); // the agent, and not the call that its function makes
  writeFileSync(join(cwd, 'ask.mld'), ask.replace('=> allow', '=> deny "no"'));
  expect(await planned()).toEqual(['one']); // the agent, and not the call that its function makes
});

it('says that agents are left out that a run which did not reach its end had not asked', async () => {
  const cwd = await projectFolder({
    'job.js': `export const meta = { name: 'job', description: 'x' }\nawait agent('one')\nif (args.stops) throw new Error('no')\nawait agent('two')\n`,
  });
  const run = (...words: string[]): ReturnType<typeof callCli> => callCli(['run', 'job.js', '--backend', 'simulated', ...words], { cwd });
  const warning = 'No recorded run reached its end: agents that none has asked yet are not counted.';
  expect(await run('--args', '{"stops": true}')).toMatchObject({ status: 1 });
  expect((await run('--args', '{}', '--plan')).stdout).toContain(`1 reused, 0 to execute, if it makes the calls of run`);
  expect((await run('--args', '{}', '--plan')).stdout).toContain(warning);
  await run('--args', '{}', '--resume');
  expect((await run('--args', '{}', '--plan')).stdout).not.toContain(warning);
});

it('compares the version of a program, and says what it can not compare', async () => {
  const store = openMemoryStore();
  const job = workflow('job', (ctx) => ctx.llm('look', [1], async () => 'seen'));
  await job.run(null, { store, version: '1' });
  const plan = { store, changed: 'ask' } as const;
  expect(await job.plan(null, { ...plan, version: '1' })).toMatchObject({
    reused: 1,
    toExecute: [],
    notices: [expect.stringContaining('the functions of a program') as string],
  });
  expect(await job.plan(null, { ...plan, version: '2' })).toMatchObject({ reused: 0, toExecute: [{ label: 'look' }] });
});

const GUARD = 'guard @strict before op:agent = when [ @input[0] == "never" => deny "no"\n  * => allow ]\n';

it.each([
  ['is added', '', GUARD, ['model', 'other', 'plain', 'type']],
  ['is edited', GUARD, GUARD.replace('never', 'nothing'), ['model', 'other', 'plain', 'type']],
  ['is taken away', GUARD, '', ['model', 'other', 'plain', 'type']],
  ['holds for one label', '', GUARD.replace('op:agent', 'plain'), ['plain']],
  ['comes from another module', '', 'import "./more.mld"\n', ['model', 'other', 'plain', 'type']],
  ['is moved down', GUARD, `\n\n${GUARD}`, []],
])('counts the calls that a guard of the module would be asked about anew, when it %s', async (_what, before, after, again) => {
  const { cwd, run } = await project();
  writeFileSync(join(cwd, 'mlld-config.json'), JSON.stringify({ agent: { ...AGENT, hooks: 'hooks.mld' } }));
  writeFileSync(join(cwd, 'more.mld'), GUARD);
  writeFileSync(join(cwd, 'hooks.mld'), before);
  expect(await run()).toMatchObject({ status: 0 });
  writeFileSync(join(cwd, 'hooks.mld'), after);
  const planned = async (changed: string): Promise<readonly string[]> => {
    const { stdout } = await run('--changed', changed, '--plan', '--json');
    const plan = JSON.parse(stdout) as { readonly toExecute: readonly { readonly label: string }[]; readonly notices: readonly string[] };
    expect(plan.notices).toEqual([]);
    return plan.toExecute.map(({ label }) => label).sort();
  };
  expect([await planned('ask-guards'), await planned('ask'), await planned('serve')]).toEqual([again, again, []]);
  const { stderr } = await run('--changed', 'ask-guards');
  expect(stderr).toMatch(again.length === 0 ? /4 calls: 4 reused/ : new RegExp(`4 calls: .*${again.length} executed`));
});

/** Prints what claude prints, for half a dollar. Its allowance is used up for the prompt in the file `refuse`. */
const CLAUDE = `#!/bin/sh
if grep -qxF "$(cat)" "$HOME/refuse" 2>/dev/null; then
  printf '{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|9999999999"}'; exit 1
fi
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"R","total_cost_usd":0.5}'
`;

it('says what the agents would cost, those among them that a stopped run had not asked, and if the budget will do', async () => {
  const items = '[1, 2, 3, 4, 5].map((n) => () => agent("look " + n))';
  const cwd = await projectFolder({
    'job.js': `export const meta = { name: 'job', description: 'x' }\nreturn await parallel(${items})\n`,
    'bin/claude': CLAUDE,
    refuse: 'look 3\n',
  });
  chmodSync(join(cwd, 'bin', 'claude'), 0o755);
  const env = { PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}` };
  const run = (...words: string[]): ReturnType<typeof callCli> =>
    callCli(['run', 'job.js', '--backend', 'claude', '--parallel', '1', ...words], { cwd, env });
  expect(await run()).toMatchObject({ status: 5 }); // paused at the third of five
  const { stdout } = await run('--resume', '--plan', '--budget', '1usd');
  expect(stdout).toContain(
    '2 reused, 1 to execute; about 2 more were not started yet (estimated from the unfinished loops of the last run)',
  );
  expect(stdout).toMatch(/those it had not started: at least 3 calls, .*, \$1\.50\n/);
  expect(stdout).toContain('  @agent: 3 calls, median $0.50, 95% at most $0.50\n  the reused results save $1.00\n');
  expect(stdout).toContain('Budget 1usd: it will not do: the amount of money is reached after 2 of 3 calls.');
  const plan = JSON.parse((await run('--resume', '--plan', '--json')).stdout) as PlanReport;
  expect(plan).toMatchObject({ estimate: { calls: 3, notStarted: 2, costUsd: 1.5 }, savedUsd: 1, budget: null, isWhole: false });
});

it('prices agents by what the same backend and model had cost, and by no other', async () => {
  const script = `export const meta = { name: 'job', description: 'x' }
return await parallel([() => agent('one'), () => agent('two', { model: 'opus' })])
`;
  const cwd = await projectFolder({ 'job.js': script, 'bin/claude': CLAUDE });
  chmodSync(join(cwd, 'bin', 'claude'), 0o755);
  const env = { PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}` };
  const verdict = async (...words: string[]): Promise<string | undefined> => {
    const { stdout } = await callCli(['run', 'job.js', '--fresh', '--plan', '--budget', '2usd', ...words], { cwd, env });
    return /^Budget .*/m.exec(stdout)?.[0];
  };
  expect(await callCli(['run', 'job.js', '--backend', 'claude'], { cwd, env })).toMatchObject({ status: 0 });
  expect(await verdict('--backend', 'claude')).toBe('Budget 2usd: it will do.');
  const unknown = 'Budget 2usd: not known if it will do, because nothing is known of the cost of @agent.';
  expect(await verdict('--backend', 'codex')).toBe(unknown);
  expect(await verdict('--backend', 'claude', '--model', 'haiku')).toBe(unknown);
});

it('counts the calls that the function of an agent makes anew with it', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': JSON.stringify({ agent: { backend: 'exe:ask.mld#ask' } }),
    'job.js': `export const meta = { name: 'job', description: 'x' }\nreturn await agent('one')\n`,
    'ask.mld':
      'exe llm @inner(p) = cmd { claude -p "@p" } with { reply: "claude" }\nexe llm @ask(p, options) = [ => @inner(@p) ]\nexport { @ask }\n',
    'bin/claude': CLAUDE,
  });
  chmodSync(join(cwd, 'bin', 'claude'), 0o755);
  const env = { PATH: `${join(cwd, 'bin')}:${process.env['PATH'] ?? ''}` };
  expect(await callCli(['run', 'job.js'], { cwd, env })).toMatchObject({ status: 0 });
  const reused = await callCli(['run', 'job.js', '--resume', '--plan', '--json'], { cwd, env });
  expect(JSON.parse(reused.stdout)).toMatchObject({ toExecute: [], savedUsd: 0.5 });
  const planned = await callCli(['run', 'job.js', '--resume', '@agent', '--plan', '--json'], { cwd, env });
  expect(JSON.parse(planned.stdout)).toMatchObject({
    toExecute: [{ prompt: 'one' }],
    estimate: { calls: 3, costUsd: 0.5 },
    savedUsd: null,
  });
  const again = await callCli(['run', 'job.js', '--resume', '@agent'], { cwd, env });
  expect(again.stderr).toContain('3 calls: 3 executed, $0.50');
});

it('names agents apart whose results came back, and wait for the guards behind the function that they ask', async () => {
  const cwd = await projectFolder({
    'mlld-config.json': JSON.stringify({ agent: { backend: 'exe:ask.mld#ask' } }),
    'job.js': `export const meta = { name: 'job', description: 'x' }\nreturn await agent('one')\n`,
    'ask.mld': `exe llm @ask(prompt) = node { mlld.usage({ model: "m", costUsd: 2 }); return "R:" + prompt }
exe llm @judge(text) = node { if (require("fs").existsSync("quota")) mlld.fail("quota", "used up"); return "yes" }
guard @check after @ask = when [ @judge(@output) == "no" => deny "bad" \n * => allow ]
export { @ask }
`,
    quota: '',
  });
  const plan = async (...words: string[]) => (await callCli(['run', 'job.js', ...words, '--plan'], { cwd })).stdout;
  expect(await callCli(['run', 'job.js'], { cwd })).toMatchObject({ status: 5 });
  expect(await plan('--resume')).toMatch(/^job\.js: 0 reused, 0 to execute, 1 received, its guards judge it, if it makes the calls of run/);
  expect(JSON.parse(await plan('--resume', '--json'))).toMatchObject({
    reused: 0,
    unjudged: 1,
    toExecute: [],
    estimate: { functions: [{ fn: 'judge' }] },
  });
  const explained = await callCli(['journal', 'explain', 'latest', '--json'], { cwd });
  const { calls } = JSON.parse(explained.stdout) as { readonly calls: readonly { readonly fn: string; readonly op: string }[] };
  const agent = calls.find(({ fn }) => fn === 'agent')?.op ?? '';
  for (const words of [['--fresh'], ['--resume', agent]])
    expect(JSON.parse(await plan(...words, '--json')), words.join(' ')).toMatchObject({ unjudged: 0, toExecute: [{ prompt: 'one' }] });
  rmSync(join(cwd, 'quota'));
  expect((await callCli(['run', 'job.js', '--resume'], { cwd })).stderr).not.toContain('$2');
});
