/** SIGKILL while guards judge results: these are paid for, so that no later run pays for them again. calls.md 17.4 and 18. */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli, startCli } from '../support/cli.js';

/** A judge hangs for as long as there is no file `verdict`. */
const SCRIPT = `
guard @check after @draft = when [
  @judge(@output) == "no" => deny "bad"
  * => allow
]
exe llm @draft(n) = node {
  require("fs").appendFileSync("drafts", n);
  mlld.usage({ model: "m", inputTokens: 1, costUsd: 2 });
  return "D:" + n;
}
exe llm @judge(t) = node {
  const fs = require("fs");
  fs.appendFileSync("judges", "j");
  while (!fs.existsSync("verdict")) await new Promise((resolve) => setTimeout(resolve, 20));
  return fs.readFileSync("verdict", "utf8");
}
show @draft("a")
`;

it('leaves results that no later run pays for again, however often that is killed while it judges them', { timeout: 90_000 }, async () => {
  const cwd = await projectFolder({ 'job.mld': SCRIPT, judges: '', drafts: '' });
  const read = (name: string): string => fs.readFileSync(path.join(cwd, name), 'utf8');
  const killWhileJudging = async (...flags: string[]): Promise<void> => {
    const before = read('judges').length;
    const child = startCli(['job.mld', ...flags], { cwd });
    child.stdin.end();
    await expect.poll(() => read('judges').length, { timeout: 30_000 }).toBe(before + 1);
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  const json = async (...argv: string[]): Promise<unknown> => JSON.parse((await runCli([...argv, '--json'], { cwd })).stdout);

  await killWhileJudging('--checkpoint');
  expect(read('drafts')).toBe('a');
  expect(await json('journal', 'list')).toMatchObject([{ status: 'crashed', executed: 0, costUsd: 2, unpriced: 1 }]); // the judge
  expect((await runCli(['journal', 'verify', 'latest'], { cwd })).status).toBe(0);

  await killWhileJudging('--resume');
  expect(await json('journal', 'list')).toMatchObject([{ status: 'crashed', executed: 0, costUsd: null, unpriced: 1 }, {}]);

  fs.writeFileSync(path.join(cwd, 'verdict'), 'yes');
  expect(await runCli(['job.mld', '--resume'], { cwd })).toMatchObject({ status: 0, stdout: 'D:a\n' });
  expect(read('drafts')).toBe('a');
  expect((await runCli(['job.mld', '--resume'], { cwd })).stderr).toContain('1 call: 1 reused, saved $2.00');
});
