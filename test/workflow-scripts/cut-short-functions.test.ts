/** An agent whose function makes several calls pays for no result again after it was killed, or one of them failed. workflows-js.md 7. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
const ASK = `
exe llm @first(text) = sh { echo first >> paid.txt; echo "$$" }
exe llm @second(text) = sh { echo second >> paid.txt; until test -e go; do sleep 0.02; done; echo "$text" }
exe llm @ask(prompt, options) = [
  let @one = @first(@prompt)
  => @second(@one)
]
export { @ask }
`;
const JOB = `export const meta = { name: 'job', description: 'x' }\nreturn await parallel([1, 2].map(() => () => agent('same')))\n`;
const WORDS = ['run', 'job.js', '--backend', 'exe:ask.mld#ask', '--parallel', '4'];

/** Kills a run in the second calls of both agents. */
async function killed(): Promise<{ cwd: string; paid: () => string; resume: (...words: string[]) => ReturnType<typeof runCli> }> {
  const cwd = await projectFolder({ 'job.js': JOB, 'ask.mld': ASK, 'paid.txt': '' });
  const paid = (): string => readFileSync(join(cwd, 'paid.txt'), 'utf8').split('\n').toSorted().join(' ').trim();
  const child = spawn(process.execPath, [CLI, ...WORDS], { cwd, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await expect.poll(paid, { timeout: 20_000 }).toBe('first first second second');
  child.kill('SIGKILL');
  await ended;
  writeFileSync(join(cwd, 'go'), '');
  return { cwd, paid, resume: (...words) => runCli([...WORDS, ...words], { cwd }) };
}

it('goes on with the results that each agent had, also where both were asked the same', { timeout: 60_000 }, async () => {
  const { paid, resume } = await killed();
  const { stdout, stderr, status } = await resume('--resume');
  expect(status, stderr).toBe(0);
  expect(paid()).toBe('first first second second second second');
  expect(new Set(JSON.parse(stdout) as string[]).size).toBe(2);
  // A result of an agent is reused as a whole, and a run without --resume makes all calls anew.
  expect((await resume('--resume')).stdout).toBe(stdout);
  expect(paid()).toBe('first first second second second second');
  await resume();
  expect(paid()).toBe('first first first first second second second second second second');
});

it.each([['--fresh'], ['--resume', '@agent'], []])(
  'makes them anew where the user asks for it: %s',
  { timeout: 60_000 },
  async (...words) => {
    const { paid, resume } = await killed();
    expect(await resume(...words)).toMatchObject({ status: 0 });
    expect(paid()).toBe('first first first first second second second second');
  },
);

it('makes them anew where their function was edited and --changed ask is given', { timeout: 60_000 }, async () => {
  const { cwd, paid, resume } = await killed();
  writeFileSync(join(cwd, 'ask.mld'), ASK.replace('echo first', 'echo  first'));
  const { stderr } = await resume('--resume', '--changed', 'ask');
  expect(paid(), stderr).toBe('first first first first second second second second');
});

it('says how calls inside are made anew whose function was edited', { timeout: 60_000 }, async () => {
  const { cwd, paid, resume } = await killed();
  writeFileSync(join(cwd, 'ask.mld'), ASK.replace('echo first', 'echo  first'));
  const { stderr } = await resume('--resume');
  expect(stderr).toContain('@first: 2 results reused from before its body was edited; a run without --resume runs them again\n');
  expect((await resume()).stderr).not.toContain('reused from before');
  expect(paid()).toBe('first first first first second second second second second second');
});

it('executes the calls without a result alone where a call inside had failed', { timeout: 60_000 }, async () => {
  const failing = ASK.replace('until test -e go; do sleep 0.02; done', 'test -e go || exit 1');
  const job = JOB.replace('.map(() =>', '.map((n) =>').replace("'same'", "'part ' + n");
  const cwd = await projectFolder({ 'job.js': job, 'ask.mld': failing, 'paid.txt': '' });
  const run = (...words: string[]): ReturnType<typeof runCli> => runCli([...WORDS, ...words], { cwd });
  expect((await run()).stderr).toContain('8 calls: 2 executed, 6 failed');
  // The run before completed with null for both agents, and this one does, too.
  expect((await run('--resume', 'failed')).stderr).toContain('2 reused, 6 failed');
  writeFileSync(join(cwd, 'go'), '');
  const { stdout, stderr } = await run('--resume', 'failed');
  expect(stderr).toContain('--resume failed: 6 calls have no result and will be executed; 2 results are reused\n');
  expect(stderr).toContain('8 calls: 2 reused, 6 executed');
  expect(new Set(JSON.parse(stdout) as string[]).size).toBe(2);
  expect(readFileSync(join(cwd, 'paid.txt'), 'utf8').match(/first/g)).toHaveLength(2);
});

it('fails the agent whose function returns the failure of a call inside it', { timeout: 60_000 }, async () => {
  const failing = `
exe llm @part(text) = sh {
  if test "$text" = ill && ! test -e go; then echo '{"fail":{"class":"content","message":"no"}}' >> $MLLD_CALL_REPORT; fi
  echo "$text"
}
exe llm @ask(prompt, options) = [
  => for parallel(2) @text in ["well", "ill"] => @part(@text)
]
export { @ask }
`;
  const job = "export const meta = { name: 'job', description: 'x' }\nreturn [await agent('all')]\n";
  const cwd = await projectFolder({ 'job.js': job, 'ask.mld': failing });
  const run = (...words: string[]): ReturnType<typeof runCli> => runCli([...WORDS, ...words], { cwd });
  const first = await run();
  expect(JSON.parse(first.stdout)).toEqual([null]);
  expect(first.stderr).toContain('all: content: @ask returned the failure of a call inside it: @part("ill"), content: no\n');
  writeFileSync(join(cwd, 'go'), '');
  expect(JSON.parse((await run('--resume', 'failed')).stdout)).toEqual([['well', 'ill']]);
});
