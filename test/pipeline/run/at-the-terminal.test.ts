/** The built command, for a person who answers questions and presses Ctrl-C. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';

const ASK = `digraph quay { start [shape=Mdiamond] exit [shape=Msquare] ask [shape=hexagon, label="Open it?"]
start -> ask; ask -> exit [label="[O] Open"]; ask -> exit [label="Keep shut"] }`;
const SLOW = `digraph quay { start [shape=Mdiamond] exit [shape=Msquare] wait [shape=parallelogram, tool_command="echo began > began.txt; sleep 30"]
start -> wait -> exit }`;

it('says how to answer a question from another terminal, and takes the answer', { timeout: 30_000 }, async () => {
  const cwd = await projectFolder({ 'quay.dot': ASK });
  const running = startCli(['run', 'quay.dot', '--ask', 'remote'], { cwd });
  const question = await firstMatch(running.stderr, /q1: Open it\? \[O\] Open, \[K\] Keep shut\n {2}answer it: (mlld answer (\S+) O\|K)\n/);
  const [, , run = ''] = question;
  const unfit = await runCli(['answer', run, 'perhaps'], { cwd });
  expect(unfit.status).toBe(1);
  expect(unfit.stderr).toContain('[O] Open, [K] Keep shut');
  const none = await runCli(['answer', run], { cwd });
  expect(none).toMatchObject({ status: 1, stderr: 'Error: q1 waits for a choice: Open it?\n  hint: [O] Open, [K] Keep shut\n' });
  const given = await runCli(['answer', run, 'K'], { cwd });
  expect(given.stdout).toBe('q1 (Open it?): Keep shut\n');
  expect(await resultOf(running)).toMatchObject({ status: 0, stdout: 'quay: completed\n' });
});

it('ends in order at Ctrl-C, and continues from there', { timeout: 30_000 }, async () => {
  const cwd = await projectFolder({ 'quay.dot': SLOW });
  const running = startCli(['run', 'quay.dot'], { cwd });
  const ended = resultOf(running);
  await firstMatch(running.stderr, /start ended success/);
  setTimeout(() => running.kill('SIGINT'), 300);
  const { status, stderr } = await ended;
  expect(status).toBe(130);
  expect(stderr).toContain('mlld run quay.dot --resume');
  expect(stderr).toMatch(/Stopped by Ctrl-C\. 0 results kept; continue: mlld run quay\.dot --resume\n {2}look at it: .*\n0 calls, \S+\n$/);
  const { stdout: told } = await runCli(['journal', 'postmortem'], { cwd });
  const [, draw = ''] = /\n {2}mlld (graph .*?) *# draw the outcome of each node/.exec(told) ?? [];
  expect(await runCli(draw.split(' '), { cwd })).toMatchObject({ status: 0, stderr: '' });
  writeFileSync(`${cwd}/quay.dot`, SLOW.replace('sleep 30', 'true'));
  const resumed = await runCli(['run', 'quay.dot', '--resume'], { cwd });
  expect(resumed).toMatchObject({ status: 0, stdout: 'quay: completed\n' });
  expect(resumed.stderr).not.toContain('start ended');
});

function firstMatch(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<RegExpExecArray> {
  let seen = '';
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      seen += chunk.toString('utf8');
      const found = pattern.exec(seen);
      if (found) resolve(found);
    });
    stream.on('end', () => reject(new Error(`it never said ${pattern.source}: ${seen}`)));
  });
}
