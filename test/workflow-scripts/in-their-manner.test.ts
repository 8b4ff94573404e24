/** Scripts in the manner of public repositories, each killed twice, resumed, and resumed again: no call is executed twice. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../support/cli.js';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
/** Slow enough to be killed in the middle of a script. */
const AGENT = 'cmd:sleep 0.03; if grep -q JSON; then echo \'{"items": ["a", "b"], "ok": true}\'; else echo done; fi';
const LIST = "{ type: 'object', required: ['items'], properties: { items: { type: 'array', items: { type: 'string' } } } }";
const VOTE = "{ type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } }";

const SCRIPTS: { readonly [name: string]: string } = {
  'an audit with three skeptics for each finding': `
const found = await pipeline(['api', 'cli', 'docs'], (area) => agent('Find faults in ' + area, { phase: 'Find', schema: ${LIST} }),
  (list, area) => parallel(list.items.map((item) => async () => {
    const votes = await parallel([1, 2, 3].map(() => () => agent('Refute ' + item + ' of ' + area, { phase: 'Verify', schema: ${VOTE} })))
    return votes.filter(Boolean).length >= 2 ? item : null
  })))
return await agent('Write up ' + JSON.stringify(found))`,
  'a migration, file by file, with a check of each': `
const files = Array.from({ length: 5 }, (_, n) => 'src/file' + n + '.ts')
const done = []
for (const file of files) {
  const plan = await agent('Plan the migration of ' + file)
  done.push(await agent('Migrate ' + file + ' by ' + plan))
  log('migrated', file, new Date().toISOString())
}
const checks = await parallel(done.map((text, n) => () => agent('Check ' + n + ': ' + text, { schema: ${VOTE} })))
return checks.filter((check) => check && check.ok).length`,
  'a translation with a glossary and a second reader': `
const glossary = await agent('Make a glossary', { schema: ${LIST} })
return await pipeline(['en', 'de', 'fr', 'it'], (to) => agent('Translate to ' + to + ' with ' + glossary.items.join()),
  (text, to) => agent('Read as a native of ' + to + ': ' + text), (notes, to, n) => agent('Amend ' + n + ' by ' + notes))`,
  'a loop until nothing new is found, within a budget': `
const seen = new Set(); let dry = 0; let round = 0
while (dry < 4 && round < 8 && budget.remaining() > 0) {
  const { items } = await agent('Round ' + round++ + ': more than ' + [...seen].join(), { schema: ${LIST} })
  const fresh = items.filter((item) => !seen.has(item + Math.floor(round / 3)))
  if (fresh.length === 0) dry++
  for (const item of fresh) seen.add(item + Math.floor(round / 3))
}
return [...seen]`,
  'a panel of judges, with a tie that is asked again': `
phase('Draft')
const drafts = await parallel(['bold', 'dry', 'warm'].map((tone) => () => agent('Draft, ' + tone, { label: 'draft:' + tone })))
phase('Judge')
const scores = await Promise.all(drafts.flatMap((draft, n) => [1, 2].map(() => agent('Score draft ' + n, { schema: ${VOTE} }))))
if (scores.every((score) => score.ok)) scores.push(await agent('Break the tie'))
return scores.length`,
  'research that fans out, with agents that fail': `
const topics = ['tides', 'ropes', 'lamps', 'locks']
const notes = await parallel(topics.map((topic) => async () => {
  const sources = await agent('Sources on ' + topic, { schema: ${LIST} })
  const read = await parallel(sources.items.map((source) => () => agent('Read ' + source + ' on ' + topic)))
  if (topic === 'lamps') throw new Error('no lamps')
  return read.join(' ')
}))
const extra = (await agent('An appendix', { timeoutMs: 20000 })) ?? 'none'
return await agent('Summarise ' + notes.filter(Boolean).join(' ') + extra + Math.random())`,
};

/** The keys of the calls that the runs of the script executed, with how often. */
function executed(cwd: string): readonly string[] {
  const runs = join(cwd, '.mlld', 'journal', 'job.js', 'runs');
  const files = existsSync(runs) ? readdirSync(runs).filter((name) => name.endsWith('.ndjson')) : [];
  const lines = files.flatMap((name) => readFileSync(join(runs, name), 'utf8').split('\n'));
  return lines.flatMap((line) => (line.includes('"type":"call.completed"') ? [/"key":"([^"]+)"/.exec(line)?.[1] ?? ''] : []));
}

it.each(Object.entries(SCRIPTS))('%s', { timeout: 120_000 }, async (_name, body) => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': `export const meta = { name: 'job', description: 'x' }${body}\n`,
  });
  const words = ['run', 'job.js', '--backend', AGENT, '--parallel', '3', '--budget', '900k'];
  for (const enough of [2, 5]) {
    const child = spawn(process.execPath, [CLI, ...words, '--resume'], { cwd, stdio: 'ignore' });
    const closed = new Promise((resolve) => child.on('close', resolve));
    while (executed(cwd).length < enough && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await closed;
  }
  const third = await runCli([...words, '--resume'], { cwd });
  expect(third).toMatchObject({ status: 0 });
  const keys = executed(cwd);
  expect(keys.length).toBeGreaterThan(5);
  expect(new Set(keys).size).toBe(keys.length);
  const fourth = await runCli([...words, '--resume'], { cwd });
  expect({ status: fourth.status, stdout: fourth.stdout }).toEqual({ status: 0, stdout: third.stdout });
  expect(executed(cwd)).toHaveLength(keys.length);
});
