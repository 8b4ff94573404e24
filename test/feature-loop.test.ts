/** The example of a pipeline does what its README promises. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';

import { projectFolder, runCli, type CliResult } from './support/cli.js';
import { PROJECT } from './support/source-files.js';

interface Checkpoint {
  readonly node_history: readonly { readonly node_id: string; readonly outcome: string; readonly failure_reason?: string }[];
  readonly goal_gate_status: { readonly [node: string]: string };
  readonly context: { readonly [key: string]: unknown };
}

let cwd: string;

beforeEach(async () => {
  cwd = await projectFolder();
  cpSync(join(PROJECT, 'examples', 'feature-loop'), cwd, { recursive: true, filter: (path) => !/\/(\.mlld|out)$/.test(path) });
});

function run(flags: readonly string[], options: { stdin?: string; env?: { [name: string]: string } } = {}): Promise<CliResult> {
  return runCli(['run', 'feature.dot', '--run-dir', 'run', ...flags], { cwd, ...options });
}

function checkpoint(): Checkpoint {
  return JSON.parse(readFileSync(join(cwd, 'run', 'checkpoint.json'), 'utf8')) as Checkpoint;
}

const path = (): readonly string[] =>
  checkpoint().node_history.map(({ node_id: id, outcome }) => (outcome === 'success' ? id : `${id}:${outcome}`));

it('is sent back by the gate once, is mended from what failed, reviewed and taken', async () => {
  const { status, stdout, stderr } = await run(['--yes']);
  expect(status, stderr).toBe(0);
  expect(stdout).toBe('feature_loop: completed\n');
  expect(path()).toEqual(
    [
      'start',
      'prepare',
      'plan',
      'implement',
      'apply',
      'test:fail',
      'implement',
      'apply',
      'test',
      'reviews',
      'verdict',
      'accept',
      'take',
    ].concat('exit'),
  );
  const { node_history: history, goal_gate_status: gates, context } = checkpoint();
  expect(history[5]?.failure_reason).toBe('the command ended with status 1: 2 of 10 do not hold');
  expect(gates).toEqual({ test: 'satisfied' });
  expect(context).toMatchObject({ 'parallel.success_count': 2, 'parallel.fan_in.best_id': 'limits', 'human.gate.selected': 'T' });
  expect(readFileSync(join(cwd, 'run', 'implement', 'preamble.md'), 'utf8')).toContain('parseDuration("1h30m") should be 5400000');
  expect(readFileSync(join(cwd, 'out', 'change.diff'), 'utf8')).toContain('+++ out/duration.mjs');
  expect(readFileSync(join(cwd, 'code', 'duration.mjs'), 'utf8')).toContain('not written yet');
});

it('goes round once more for a person who says so', async () => {
  const { status, stderr } = await run(['--ask', 'stdin'], { stdin: 'A\nT\n' });
  expect(status, stderr).toBe(0);
  expect(path().filter((id) => id === 'accept')).toHaveLength(2);
});

it('ends without a change when a model never gets it right, and goes on from there with a better one', async () => {
  const programs = join(cwd, 'programs');
  mkdirSync(programs);
  const claude = (reply: string): void =>
    writeFileSync(join(programs, 'claude'), `#!/bin/sh\ncat > /dev/null\ncat <<'END'\n${reply}\nEND\n`, { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env['PATH'] ?? ''}` };
  claude('```js\nexport const parseDuration = () => 1;\n```');
  const failed = await run(['--yes', '--backend', 'cmd:claude -p'], { env });
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('feature_loop: failed: max_jumps is reached');
  expect(existsSync(join(cwd, 'out', 'change.diff'))).toBe(false);
  const right = /function sums\(\) \{\n {2}return `(.*?)`;\n\}/s.exec(readFileSync(join(cwd, 'bin', 'stand-in.mjs'), 'utf8'))?.[1] ?? '';
  claude(`\`\`\`js\n${right.replaceAll('\\`', '`').replaceAll('\\$', '$').replaceAll('\\\\', '\\')}\`\`\``);
  const resumed = await run(['--yes', '--backend', 'cmd:claude -p', '--resume', 'implement'], { env });
  expect(resumed.status, resumed.stderr).toBe(0);
  expect(checkpoint().goal_gate_status).toEqual({ test: 'satisfied' });
});
