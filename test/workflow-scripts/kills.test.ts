/** A script that dies at any event and is resumed makes no call again whose result is recorded. workflows-js.md 1. */
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { runScript } from './run-script.js';

const CALLS = 30;
const SCRIPT = `export const meta = { name: 'job', description: 'Thirty calls', phases: [{ title: 'Look' }, { title: 'Check' }] }
phase('Look')
const found = await parallel(Array.from({ length: 9 }, (_, n) => () => agent('look ' + n)))
const checked = await pipeline(found, (one, item, n) => agent('check ' + n, { phase: 'Check' }), (one) => agent('vote'))
await Promise.all([agent('vote'), agent('sum ' + checked.length)])
return await agent('end ' + Math.random() + ' ' + Date.now())
`;

async function run(
  root: string,
  cache: { readonly resume?: string },
): Promise<{ readonly result: string; readonly executed: number; readonly reused: number }> {
  const { result, report } = await runScript(root, { cache });
  expect(report.error).toBeUndefined();
  return { result, executed: report.calls?.executed ?? 0, reused: report.calls?.reused ?? 0 };
}

const runsOf = (root: string): string => join(root, '.mlld', 'journal', 'job.js', 'runs');
const isCompleted = (line: string): boolean => line.includes('"type":"call.completed"');

it('resumes from every event of a journal', { timeout: 120_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'mlld-workflow-'));
  try {
    writeFileSync(join(root, 'job.js'), SCRIPT);
    const first = await run(root, {});
    expect(first).toMatchObject({ executed: CALLS, reused: 0 });
    const [name = ''] = readdirSync(runsOf(root));
    const lines = readFileSync(join(runsOf(root), name), 'utf8')
      .split('\n')
      .slice(0, -1);
    expect(lines.filter(isCompleted)).toHaveLength(CALLS);
    for (let cut = 1; cut <= lines.length; cut++) {
      rmSync(join(root, '.mlld'), { recursive: true });
      mkdirSync(runsOf(root), { recursive: true });
      const kept = lines.slice(0, cut);
      writeFileSync(join(runsOf(root), name), `${kept.join('\n')}\n`);
      const reused = kept.filter(isCompleted).length;
      const resumed = await run(root, { resume: '' });
      expect({ cut, reused: resumed.reused, executed: resumed.executed }).toEqual({ cut, reused, executed: CALLS - reused });
      const again = await run(root, { resume: '' });
      expect({ cut, ...again }).toEqual({ cut, executed: 0, reused: CALLS, result: resumed.result });
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
