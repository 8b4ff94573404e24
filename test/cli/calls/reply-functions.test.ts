/** Functions of a script read the replies of calls (`reply: @fn`). calls.md 7.7 and 11.3. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const READ = `exe @read(r) = js {
  const [cost, ...rest] = r.stdout.trim().split("|");
  if (cost === "busy") return { class: "overloaded", message: "come back later" };
  return { answer: rest.join("|"), usage: { model: "own-1", costUsd: Number(cost) } };
}
`;
const ASK = 'exe llm @ask(q) = sh { echo x >> log; if [ $(wc -l < log) = 1 ]; then echo "busy|"; else echo "0.04|A:$q"; fi }';
const SHOW = '\nvar @a = @ask("ebb")\nshow `@a @a.mx.cost @a.mx.model @mx.usage.attempts`\n';
const CONFIG = '{ "calls": { "backoff": { "first": "5ms", "max": "10ms" } } }';

async function events(cwd: string): Promise<{ readonly type: string; readonly op?: string }[]> {
  const { stdout } = await callCli(['journal', 'show', 'latest', '--json'], { cwd });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string });
}

async function verdict(cwd: string): Promise<unknown> {
  return (JSON.parse((await callCli(['journal', 'replay', 'latest', '--json'], { cwd })).stdout) as { verdict: unknown }).verdict;
}

it('reads a reply without a record of its own, and is not called by a replay', async () => {
  const cwd = await projectFolder({ 'job.mld': `${READ}${ASK} with { reply: @read }${SHOW}`, 'mlld-config.json': CONFIG });
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('A:ebb 0.04 own-1 2\n');
  const recorded = await events(cwd);
  expect(recorded.filter(({ op }) => op?.includes('read#'))).toEqual([]);
  expect(recorded.filter(({ type }) => type === 'call.completed')).toMatchObject([{ reply: { adapter: '@read', inner: true } }]);
  expect(await verdict(cwd)).toBe('same');
});

it('is part of the definition, and not of the key: a recorded result is reused as it is', async () => {
  const cwd = await projectFolder({ 'job.mld': `${READ}${ASK} with { reply: @read }${SHOW}`, 'mlld-config.json': CONFIG });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  await fs.writeFile(path.join(cwd, 'job.mld'), `${READ.replace('rest.join("|")', '"changed"')}${ASK} with { reply: @read }${SHOW}`);
  const { stdout, stderr } = await callCli(['job.mld', '--resume'], { cwd });
  expect(stdout).toBe('A:ebb 0.04 own-1 0\n');
  expect(stderr).toMatch(/@ask.*edited|edited.*@ask/);
});

it('reads a result that was recorded raw when it is reused, and a replay reads it again', async () => {
  const print = 'exe llm @ask(q) = sh { echo x >> log; echo "0.04|A:$q" }';
  const cwd = await projectFolder({ 'job.mld': `${print}\nshow @ask("ebb")\n` });
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('0.04|A:ebb\n');
  await fs.writeFile(path.join(cwd, 'job.mld'), `${READ}${print} with { reply: @read }\nshow @ask("ebb")\n`);
  expect((await callCli(['job.mld', '--resume'], { cwd })).stdout).toBe('A:ebb\n');
  expect(await fs.readFile(path.join(cwd, 'log'), 'utf8')).toBe('x\n');
  expect(await verdict(cwd)).toBe('same');
});

it('sees no hooks and no guards, and makes no call', async () => {
  const script = `exe llm @other(q) = sh { echo x >> other; echo o }
exe @read(r) = { answer: @other(@r.stdout) }
hook @h before @read = [ append "hooked" to "trace" ]
exe llm @ask(q) = sh { echo "A:$q" } with { reply: @read }\nshow @ask("ebb")\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  const { stderr, status } = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain("bad reply: @read: @read reads the reply of a call, and can't make a call itself");
  expect((await fs.readdir(cwd)).filter((name) => name === 'other' || name === 'trace')).toEqual([]);
  expect(await verdict(cwd)).toBe('same');
});

it('gives its result the labels that it adds', async () => {
  const script = `exe secret @read(r) = { answer: @r.stdout }
exe llm @ask(q) = sh { echo "A:$q" } with { reply: @read }\nvar @a = @ask("ebb")\nshow \`@a.mx.labels.includes("secret")\`\n`;
  const cwd = await projectFolder({ 'job.mld': script });
  expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('true\n');
  expect(await verdict(cwd)).toBe('same');
});

it('is an error where the option is neither an adapter nor a function', async () => {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = sh { echo x } with { reply: "clod" }\nshow @ask("a")\n' });
  expect((await callCli(['job.mld'], { cwd })).stderr).toContain('"text", or a function');
});
