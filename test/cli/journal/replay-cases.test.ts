/** Some conformance cases of every area; `node bench/replay-cases.mjs` takes all of them. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

it('replays conformance cases to the same output, with their projects gone', () => {
  const { stdout, status } = spawnSync(process.execPath, [path.resolve('bench/replay-cases.mjs'), '--every', '50'], { encoding: 'utf8' });
  expect(stdout).toMatch(/^[1-9]\d* same, .* 0 wrong$/m);
  expect(status).toBe(0);
}, 120_000);
