/** A recorded run of a script runs again from the journal alone: nobody is asked, and its lines come out the same. workflows-js.md 7. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findProject, openFileStore, replayRun, resolveRun } from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../support/cli.js';

const SCRIPT = `export const meta = { name: 'job', description: 'x', phases: [{ title: 'Look' }, { title: 'Write' }] }
const VOTE = { type: 'object', required: ['real'], properties: { real: { type: 'boolean' } } }
phase('Look')
const found = await pipeline(args.berths,
  (berth) => agent('look at ' + berth + ' ' + Math.random(), { label: 'look:' + berth }),
  (text, berth) => parallel([1, 2].map(() => () => agent('refute ' + berth, { schema: VOTE }))))
log('found', found.length, new Date().toISOString())
const child = await workflow({ scriptPath: 'child.js' }, { word: 'ebb' })
let refused = ''
try { await workflow('nobody') } catch (error) { refused = error.message }
const lost = await agent('fail', { backend: 'cmd:exit 3' })
phase('Write')
return [child, refused, lost, await agent('write up ' + JSON.stringify(found) + ' ' + Date.now()), budget.total]
`;
const CHILD = `export const meta = { name: 'child', description: 'x' }
return await agent('say ' + args.word)
`;
/** Says something else each time, and writes down that it was asked. */
const AGENT = 'cmd:echo asked >> asked.txt; if grep -q refute; then echo \'{"real": true}\'; else date +%N; fi';
const CONFIG = '{"agent": {"backends": ["cmd:exit 3"]}}';
const BERTHS = ['--args', '{"berths": ["north", "south"]}'];

async function project(): Promise<{
  readonly cwd: string;
  readonly run: (...words: string[]) => Promise<CliResult>;
  readonly asked: () => string;
}> {
  const cwd = await projectFolder({ 'mlld-config.json': CONFIG, 'job.js': SCRIPT, 'child.js': CHILD });
  return {
    cwd,
    run: (...words) => callCli(words, { cwd }),
    asked: () => readFileSync(join(cwd, 'asked.txt'), 'utf8'),
  };
}

it('prints the same, without the files and without an agent', async () => {
  const { cwd, run, asked } = await project();
  const first = await run('run', 'job.js', ...BERTHS, '--backend', AGENT, '--budget', '900k');
  expect(first.status).toBe(0);
  expect(first.stdout).toContain('900000');
  const second = await run('run', 'job.js', ...BERTHS, '--backend', AGENT, '--budget', '900k', '--resume');
  const before = asked();
  for (const name of ['job.js', 'child.js']) writeFileSync(join(cwd, name), '// gone');
  for (const [name, { stdout }] of [
    ['job@2', first],
    ['job', second],
  ] as const) {
    const replayed = await run('journal', 'replay', name);
    expect(replayed).toMatchObject({ status: 0, stdout });
    expect(replayed.stderr).toContain('found 2 ');
  }
  expect(asked()).toBe(before);
});

it('is replayed by a program, too', async () => {
  const { cwd, run } = await project();
  const first = await run('run', 'job.js', ...BERTHS, '--backend', AGENT);
  const store = openFileStore(cwd);
  const { ref } = await resolveRun(store, { ...(await findProject(cwd)), workingDirectory: cwd }, 'job');
  let stdout = '';
  const sinks = { stdout: (text: string) => void (stdout += text), stderr: () => undefined };
  const report = await replayRun({ store, ref, root: cwd, divergences: 'first', sinks });
  expect({ report, stdout }).toMatchObject({ report: { verdict: 'same', divergences: [] }, stdout: first.stdout });
});

it('names the first call that was not recorded, and the recorded one that resembles it', async () => {
  const { cwd, run } = await project();
  await run('run', 'job.js', ...BERTHS, '--backend', AGENT);
  writeFileSync(join(cwd, 'edited.js'), SCRIPT.replace("'refute '", "'refute really '"));
  const { status, stdout } = await run('journal', 'replay', 'job', '--script', 'edited.js', '--json');
  expect(status).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    verdict: 'diverged',
    divergences: [
      { kind: 'call', reason: 'new', actual: { subject: '@agent' }, expected: { request: [expect.stringContaining('refute '), {}] } },
    ],
  });
});

it('stops at a phase', async () => {
  const { run } = await project();
  await run('run', 'job.js', ...BERTHS, '--backend', AGENT);
  expect(await run('journal', 'replay', 'job', '--at', 'Write')).toMatchObject({ status: 0, stdout: '' });
  const { status, stderr } = await run('journal', 'replay', 'job', '--at', 'Nowhere');
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('it reached "Look", "Write"') });
});
