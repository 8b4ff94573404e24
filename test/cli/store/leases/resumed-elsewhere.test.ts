/**
 * A pipeline whose process is stopped for longer than its lease, as a laptop that sleeps does it, is resumed elsewhere: one of the two goes
 * on, and nothing that began after that is done or paid for twice. team-store.md 4.5.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { projectFolder, resultOf, runCli, startCli } from '../../../support/cli.js';
import { pipeline } from '../../../support/pipeline-run.js';

const PATIENCE = { timeout: 60_000, interval: 100 };
const NAMES = ['a', 'b', 'c', 'd'];
/** Each stage says that it began. The one that is in flight when the process is stopped goes on until the file `go` is there. */
const WORK = 'echo $MLLD_NODE_ID >> begun; if [ $MLLD_NODE_ID = b ]; then until test -e go; do sleep 0.1; done; fi; echo reply';
const walk = (attributes: string): string =>
  `${NAMES.map((name) => `${name} [${attributes}]`).join('; ')}; start -> ${NAMES.join(' -> ')} -> exit`;

describe.skipIf(noServer !== undefined)(
  `a pipeline that is resumed elsewhere${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

    it.each([
      ['model calls', pipeline(walk('prompt="p"'), `backend="cmd:${WORK}"`)],
      ['commands', pipeline(walk(`shape=parallelogram, tool_command="${WORK}"`))],
      [
        'a child pipeline of model calls',
        pipeline('boss [shape=house, "manager.poll_interval"="50ms"]; start -> boss -> exit', '"stack.child_dotfile"="child.dot"'),
        pipeline(walk('prompt="p"'), `backend="cmd:${WORK}"`),
      ],
    ])('goes on once, with %s', { timeout: 120_000 }, async (_, text, child = '') => {
      const cwd = await projectFolder({ 'mlld-config.json': '{}', 'p.dot': text, 'child.dot': child });
      const env = { MLLD_STORE: database.project(), MLLD_LEASE: '1s' };
      const begun = (): string[] =>
        existsSync(path.join(cwd, 'begun')) ? readFileSync(path.join(cwd, 'begun'), 'utf8').trim().split('\n') : [];
      const stopped = startCli(['run', 'p.dot'], { cwd, env });
      const ended = resultOf(stopped);
      try {
        await vi.waitFor(() => expect(begun()).toEqual(['a', 'b']), PATIENCE);
        stopped.kill('SIGSTOP');
        await vi.waitFor(async () => expect((await runCli(['journal', 'list'], { cwd, env })).stdout).toContain('crashed'), PATIENCE);
        const resumed = startCli(['run', 'p.dot', '--resume', '--keep-orphans'], { cwd, env });
        const completed = resultOf(resumed);
        await vi.waitFor(() => expect(begun()).toEqual(['a', 'b', 'b']), PATIENCE);
        stopped.kill('SIGCONT');
        // It hears of the other one while its command still goes on, and starts nothing more when that has ended.
        setTimeout(() => writeFileSync(path.join(cwd, 'go'), ''), 1000);
        expect(await ended).toMatchObject({
          status: 6,
          stderr: expect.stringContaining('paused: the store takes nothing of this run any more'),
        });
        expect(await completed).toMatchObject({ status: 0 });
        expect(begun()).toEqual(['a', 'b', 'b', 'c', 'd']);
        expect((await runCli(['run', 'p.dot', '--resume'], { cwd, env })).stderr).toContain('is completed: there is nothing to resume');
        expect(await runCli(['journal', 'verify', 'p.dot'], { cwd, env })).toMatchObject({ status: 0 });
      } finally {
        stopped.kill('SIGKILL');
        writeFileSync(path.join(cwd, 'go'), '');
      }
    });

    it('keeps the checkpoint of the process that went on, however late the other one ends', { timeout: 120_000 }, async () => {
      const attributes = `shape=parallelogram, tool_command="${WORK}"`;
      const cwd = await projectFolder({ 'mlld-config.json': '{}', 'p.dot': pipeline(walk(attributes)) });
      const env = { MLLD_STORE: database.project(), MLLD_LEASE: '1s' };
      const checkpoint = (): string => readFileSync(path.join(cwd, 'files', 'checkpoint.json'), 'utf8');
      const stopped = startCli(['run', 'p.dot', '--run-dir', 'files'], { cwd, env });
      const ended = resultOf(stopped);
      try {
        await vi.waitFor(() => expect(readFileSync(path.join(cwd, 'begun'), 'utf8')).toBe('a\nb\n'), PATIENCE);
        stopped.kill('SIGSTOP');
        writeFileSync(path.join(cwd, 'go'), '');
        await vi.waitFor(async () => expect((await runCli(['journal', 'list'], { cwd, env })).stdout).toContain('crashed'), PATIENCE);
        expect(await runCli(['run', 'p.dot', '--resume', '--keep-orphans'], { cwd, env })).toMatchObject({ status: 0 });
        const kept = checkpoint();
        expect(kept).toContain('"exit"');
        stopped.kill('SIGCONT');
        expect(await ended).toMatchObject({ status: 6 });
        expect(checkpoint()).toBe(kept);
      } finally {
        stopped.kill('SIGKILL');
      }
    });
  },
);
