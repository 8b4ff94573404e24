/** A trial costs nothing, and says nothing of what agents cost that ask a model. calls.md 13.3. */
import fs from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const AGENT = `[ -e broken ] && exit 1
echo paid >> paid
printf '{"cost_usd":0.5,"input_tokens":10,"output_tokens":5}' > "$MLLD_AGENT_USAGE"
echo real
`;
const SIX = "parallel([1, 2, 3, 4, 5, 6].map((n) => () => agent('what is ' + n)))";
const TRIAL = ['--backend', 'simulated'];

async function project(result: string) {
  const cwd = await projectFolder({
    'agent.sh': AGENT,
    'mlld-config.json': JSON.stringify({ agent: { backend: 'cmd:exec sh agent.sh', parallel: 6 } }),
    'job.js': `export const meta = { name: 'job', description: 'd' }\nreturn await ${result}\n`,
  });
  const paid = path.join(cwd, 'paid');
  return {
    cwd,
    run: (...flags: readonly string[]) => callCli(['run', 'job.js', ...flags], { cwd }),
    paid: () => (fs.existsSync(paid) ? fs.readFileSync(paid, 'utf8').trim().split('\n').length : 0),
    plan: async (...flags: readonly string[]): Promise<unknown> =>
      JSON.parse((await callCli(['run', 'job.js', ...flags, '--plan', '--json'], { cwd })).stdout),
  };
}

it('leaves a function unknown to a budget, in the plan and in the run', async () => {
  const { run, plan, paid } = await project(SIX);
  expect((await run(...TRIAL)).stderr).toContain('6 calls: 6 executed, $0.00, ');
  expect(await plan('--resume', '--budget', '0.8usd')).toMatchObject({
    estimate: { calls: 6, costUsd: null, durationMs: null, unpriced: 6, untimed: 6 },
    budget: { suffices: null },
  });
  expect((await run('--budget', '0.8usd')).stderr).toMatch(/\n1 call: 1 executed, \$0\.50, /);
  expect(paid()).toBe(1);
});

it('leaves the costs and times of a run before it', async () => {
  const { run, plan, paid } = await project(SIX);
  await run();
  expect((await run(...TRIAL)).stderr).toContain('6 calls: 6 executed, $0.00, ');
  expect(await plan('--fresh', '--budget', '1.2usd')).toMatchObject({
    estimate: { calls: 6, costUsd: 3, unpriced: 0, untimed: 0, functions: [{ medianUsd: 0.5, meanUsd: 0.5 }] },
    budget: { suffices: false, limit: 'usd', after: 2 },
  });
  expect((await run('--fresh', '--budget', '1.2usd')).stderr).toMatch(/\n2 calls: 2 executed, \$1\.00, /);
  expect(paid()).toBe(8);
});

it('is not held back by what agents had cost, and its plan says so', async () => {
  const { cwd, run, plan } = await project(SIX);
  await run();
  const budget = ['--budget', '0.1usd,10tok'];
  expect((await run(...TRIAL, '--fresh', ...budget)).stderr).toContain('6 calls: 6 executed, $0.00, ');
  const file = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true }).sort().at(-1) as string;
  const reserved = fs.readFileSync(file, 'utf8').match(/"reserved":\{[^}]*\}/g);
  expect(reserved).toEqual(new Array(6).fill('"reserved":{"usd":0,"tokens":0,"basis":"maxCost"}'));
  const tried = await project(SIX);
  await tried.run(...TRIAL);
  expect(await tried.plan(...TRIAL, '--fresh', ...budget)).toMatchObject({ estimate: { costUsd: 0 }, budget: { suffices: true } });
  expect(await plan('--fresh', ...budget)).toMatchObject({ budget: { suffices: false, after: 0 } });
});

it('is no cost where agents of one run are simulated and others are not', async () => {
  const simulated = "agent('try ' + n, { backend: 'simulated' })";
  const { cwd, run, paid } = await project(`parallel([1, 2, 3].flatMap((n) => [() => ${simulated}, () => agent('ask ' + n)]))`);
  fs.writeFileSync(path.join(cwd, 'broken'), '');
  await run();
  const { stdout } = await callCli(['journal', 'postmortem', 'job.js', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ resume: { reused: 3, unresolved: [{}, {}, {}], unpriced: 0 } });
  expect((JSON.parse(stdout) as { readonly resume: object }).resume).not.toHaveProperty('costUsd', 0);
  fs.rmSync(path.join(cwd, 'broken'));
  await run('--fresh', '--budget', '0.8usd');
  expect(paid()).toBe(1);
});

it('has no part in the figures of a function', async () => {
  const { cwd, run } = await project(SIX);
  await run();
  for (let n = 0; n < 2; n++) await run(...TRIAL, '--fresh');
  const { stdout } = await callCli(['journal', 'stats', 'job.js', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({ functions: [{ executed: 18, costUsd: 3, medianResultUsd: 0.5, p95ResultUsd: 0.5 }] });
});
