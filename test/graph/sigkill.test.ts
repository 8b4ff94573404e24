/** A real process, killed at arbitrary moments and resumed until it is through: every node finishes once, no reply is paid for twice. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import type { JournalEvent } from '../../journal/event.js';
import { pipeline } from '../support/pipeline-run.js';

const PROGRAM = fileURLToPath(new URL('../../dist/mlld.cjs', import.meta.url));
const NODES = ['a', 'b', 'c', 'd', 'e'];
const MODEL = 'cmd:sleep 0.05; echo $MLLD_NODE_ID >> asked.txt; echo reply';

const folder = mkdtempSync(path.join(tmpdir(), 'mlld-sigkill-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Undefined: it was killed. */
function mlld(args: readonly string[], killAfterMs?: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, detached: true, stdio: 'ignore' });
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), killAfterMs);
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve(status);
    });
  });
}

function journal(): readonly JournalEvent[] {
  const runs = path.join(folder, '.mlld', 'journal', 'p.dot', 'runs');
  if (!existsSync(runs)) return [];
  const files = readdirSync(runs).filter((name) => name.endsWith('.ndjson'));
  return files.sort().flatMap((name) => {
    const lines = readFileSync(path.join(runs, name), 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as JournalEvent);
  });
}

it('gets through, one kill after the other', { timeout: 60_000 }, async () => {
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  const stages = NODES.map((id) => `${id} [prompt="${id}"]`).join('; ');
  writeFileSync(path.join(folder, 'p.dot'), pipeline(`${stages}; start -> ${NODES.join(' -> ')} -> exit`, `backend="${MODEL}"`));
  let status: number | null = null;
  for (let kill = 0; status !== 0; kill++) {
    expect(kill, 'it never gets through').toBeLessThan(40);
    const begun = journal().some(({ type }) => type === 'run.started');
    status = await mlld(['run', 'p.dot', ...(begun ? ['--resume'] : [])], kill < 30 ? 200 + ((kill * 53) % 120) : undefined);
  }
  const events = journal();
  const finished = events.flatMap((event) => (event.type === 'node.finished' ? [event.node] : []));
  expect(finished).toEqual(['start', ...NODES, 'exit']);
  const replies = events.flatMap((event) => (event.type === 'call.completed' ? [event.op] : []));
  expect(new Set(replies).size).toBe(replies.length);
  expect(replies).toHaveLength(NODES.length);
});
