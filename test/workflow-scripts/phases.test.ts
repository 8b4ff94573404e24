/** The reports of the journal name the phases of a script's calls, as they name checkpoints. workflows-js.md 3.1, 7 and 11. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const SCRIPT = `export const meta = { name: 'job', description: 'x', phases: [{ title: 'Look' }, { title: 'Check' }] }
phase('Look')
const found = await agent('look')
return await agent('check ' + found, { phase: 'Check' })
`;

it('in show, explain, diff, audit, list and postmortem', async () => {
  const cwd = await projectFolder({ 'mlld-config.json': '{}', 'job.js': SCRIPT });
  const run = async (...words: string[]): Promise<string> => (await callCli(words, { cwd })).stdout;
  await run('run', 'job.js', '--backend', 'cmd:echo done');
  writeFileSync(join(cwd, 'job.js'), SCRIPT.replace("'check '", "'check again '"));
  await run('run', 'job.js', '--backend', 'cmd:echo done', '--resume');
  const journal = (...words: string[]): Promise<string> => run('journal', ...words);

  expect(await journal('show', 'job.js')).toMatch(/agent started in phase "Check"/);
  const explained = await journal('explain', 'job.js');
  expect(explained).toMatch(/@agent\(look\) \[Look\] reused/);
  expect(explained).toMatch(/@agent\(check again done\) \[Check\] executed/);
  expect(await journal('diff', 'job.js@2', 'job.js')).toMatch(/\[Check\]/);
  const audited = await journal('audit', 'job.js');
  expect(audited).toMatch(/@agent\(look\) \[Look\] reused/);
  expect(audited).toMatch(/@agent\(check again done\) \[Check\] executed/);
  const entries = (JSON.parse(await journal('audit', 'job.js', '--json')) as { readonly entries: readonly object[] }).entries;
  expect(entries).toContainEqual(expect.objectContaining({ entry: 'call', outcome: 'reused', phase: 'Look' }));

  // The same run, killed while its last call was in flight.
  const runs = join(cwd, '.mlld', 'journal', 'job.js', 'runs');
  const [, last = ''] = readdirSync(runs).sort();
  const lines = readFileSync(join(runs, last), 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes('"type":"call.started"'));
  writeFileSync(join(runs, last), `${lines.slice(0, at + 1).join('\n')}\n`);
  expect(await journal('list', 'job.js')).toMatch(/was in flight: @agent\(check again done\) \[Check\]/);
  const dead = await journal('postmortem', 'job.js');
  expect(dead).toContain('Last checkpoint: "Check"');
  expect(dead).toMatch(/@agent\(check again done\) \[Check\] for/);
  expect(dead).toContain('--resume Check');
});
