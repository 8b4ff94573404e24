/** A body that is a pipe of commands fails where one of them does: its output is no result. calls.md 7.4. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const STUBS = fileURLToPath(new URL('../../conformance/stubs', import.meta.url));

async function project(body: string) {
  const cwd = await projectFolder({
    'job.mld': `exe llm @ask(t) = ${body}\nvar @all = for parallel(2) @k in ["a", "b"] => @ask(@k)\nshow @all\n`,
  });
  const env = (plan: object) => ({ PATH: `${STUBS}:${process.env['PATH'] ?? ''}`, STUB_PLAN: JSON.stringify(plan) });
  return {
    run: (plan: object, ...argv: string[]) => callCli(['job.mld', '--checkpoint', ...argv], { cwd, env: env(plan) }),
    list: async () => JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout) as unknown,
  };
}

it.each([
  '@t | sh { exit 3 }',
  '@t | bash { exit 3 }',
  '@t | py { raise SystemExit(3) }',
  '@t | cmd { cat } | sh { exit 3 }',
  '@t | sh { exit 3 } | cmd { cat }',
  '@t | sh { claude -p } | sh { cat }',
  '@t | cmd { claude -p } | cmd { cat }',
])('%s', async (body) => {
  const { run, list } = await project(body);
  expect(await run({ default: { do: 'crash' } })).toMatchObject({ status: 1 });
  expect(await list()).toMatchObject([{ status: 'failed', executed: 0, failed: 1 }]);
});

it('is recognised by what its one command printed, which stays its value', async () => {
  const { run, list } = await project('@t | sh { claude -p --output-format json }');
  // oxlint-disable-next-line no-thenable -- the stand-ins call it so, and rules are never awaited
  const limited = await run({ match: [{ when: 'b', times: 1, then: { do: 'rate-limit' } }] }, '--retries', '0');
  expect(limited).toMatchObject({ status: 4, stderr: expect.stringContaining('1 failed (rate limit)') });
  const repaired = await run({}, '--resume', 'failed');
  expect(repaired.stderr).toContain('2 calls: 1 reused, 1 executed, $');
  expect(JSON.parse(repaired.stdout)).toMatchObject([{ result: 'A:a' }, { result: 'A:b' }]);
  expect(await list()).toMatchObject([{ costUsd: expect.any(Number) }, { costUsd: expect.any(Number) }]);
});

it('counts what a command of several cost once', async () => {
  const [one, several] = await Promise.all(
    ['', ' | cmd { cat }'].map((more) => project(`@t | cmd { claude -p --output-format json }${more}`)),
  );
  await one?.run({});
  await several?.run({});
  const [[single], [piped]] = (await Promise.all([one?.list(), several?.list()])) as [{ costUsd: number }[], { costUsd: number }[]];
  expect(single?.costUsd).toBeGreaterThan(0);
  expect(piped?.costUsd).toBe(single?.costUsd);
});
