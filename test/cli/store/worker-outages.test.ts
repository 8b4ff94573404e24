/** `mlld worker` while the store of a team is away. team-store.md 7.1. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { Between } from '../../journal/support/between.js';
import { emptyFolder, projectFolder, resultOf, runCli, type CliProcess } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

const TIMEOUT_MS = 120_000;
const PATIENCE = { timeout: 30_000, interval: 100 };
const LARGE = 300_000;
const SCRIPT = `exe llm @ask(q, size) = sh {
  echo "$q" >> "$LEDGER"
  until [ -e "$GO-$q" ]; do sleep 0.05; done
  head -c "$size" /dev/zero | tr '\\0' x
}
import { question, size } from @payload
var @answer = @ask(@question, @size)
show @answer.length
`;

describe.skipIf(noServer !== undefined)(
  `a worker whose store is away${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
    const start = commandsOfTests({ MLLD_LEASE: '30s' });

    async function open(env: { readonly [name: string]: string } = {}) {
      const url = database.project();
      const between = await Between.open(url);
      const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/hi.mld': SCRIPT });
      const hut = await emptyFolder();
      const [ledger, go] = [path.join(folder, 'ledger'), path.join(folder, 'go')];
      return {
        between,
        worker: (...words: readonly string[]) =>
          start(['worker', '--lanes', '2', '--name', 'hut', ...words], hut, { MLLD_STORE: between.url, LEDGER: ledger, GO: go, ...env }),
        run: (question: string, size = 3) =>
          resultOf(
            start(['run', 'hi', '--checkpoint', '--workers', '--question', question, '--size', String(size)], folder, {
              MLLD_STORE: url,
            }),
          ),
        offers: async () => {
          const status = await runCli(['worker', 'status', '--json'], { cwd: folder, env: { MLLD_STORE: url } });
          return (JSON.parse(status.stdout) as { offers: { waiting: number } }).offers.waiting;
        },
        verify: () => runCli(['journal', 'verify', 'hi'], { cwd: folder, env: { MLLD_STORE: url } }),
        paid: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []),
        let: (question: string) => appendFileSync(`${go}-${question}`, ''),
      };
    }

    function leave({ between }: { readonly between: Between }): void {
      between.isAway = true;
      between.cut();
    }

    it.each([3, LARGE])(
      'waits for it longer than a run would, and goes on: a result of %i bytes',
      { timeout: TIMEOUT_MS },
      async (size) => {
        const team = await open({ MLLD_STORE_WAIT: '1s' });
        const worker = team.worker();
        const [ended, stderr] = [resultOf(worker), textOf(worker)];
        const first = team.run('a', size);
        await vi.waitFor(() => expect(team.paid()).toEqual(['a']), PATIENCE);
        leave(team);
        team.let('a');
        await vi.waitFor(() => expect(stderr()).toContain('the worker waits for it'), PATIENCE);
        await sleep(3000); // longer than MLLD_STORE_WAIT
        team.between.isAway = false;
        expect(await first).toMatchObject({ status: 0, stdout: `${size}\n` });
        const second = team.run('b');
        await vi.waitFor(() => expect(team.paid()).toEqual(['a', 'b']), PATIENCE);
        team.let('b');
        expect(await second).toMatchObject({ status: 0 });
        worker.kill('SIGTERM');
        const { status, stderr: said } = await ended;
        // The end of its last call may still be on its way.
        const lines = said.split('\n').filter((line) => !line.startsWith('ending what is in flight'));
        expect(lines.slice(1)).toEqual([
          expect.stringMatching(/^warning: the store \S+ can't be reached: .*; what is in flight continues, and the worker waits for it$/),
          'the store can be reached again',
          'executed 2 calls',
          '',
        ]);
        expect(status).toBe(0);
        expect(team.paid()).toEqual(['a', 'b']);
      },
    );

    it.each([3, LARGE])(
      'ends when it is asked to, and the next one brings in what it had paid for: %i bytes',
      { timeout: TIMEOUT_MS },
      async (size) => {
        const team = await open();
        const worker = team.worker();
        const ended = resultOf(worker);
        const run = team.run('a', size);
        await vi.waitFor(() => expect(team.paid()).toEqual(['a']), PATIENCE);
        leave(team);
        team.let('a');
        await sleep(500);
        worker.kill('SIGTERM');
        expect(await ended).toMatchObject({
          status: 5,
          stderr: expect.stringContaining('what was recorded since then is kept in .mlld/spill'),
        });
        team.between.isAway = false;
        const next = resultOf(team.worker('--once'));
        expect(await run).toMatchObject({ status: 0, stdout: `${size}\n` });
        expect(await next).toMatchObject({ status: 0, stderr: expect.stringMatching(/brought in \d+ events/) });
        expect(team.paid()).toEqual(['a']);
        expect(await team.verify()).toMatchObject({ status: 0 });
      },
    );

    it('waits for the store first, and says that it waits for calls when the store has answered', { timeout: TIMEOUT_MS }, async () => {
      const team = await open();
      team.between.isAway = true;
      const worker = team.worker();
      const [ended, stderr] = [resultOf(worker), textOf(worker)];
      await vi.waitFor(() => expect(stderr()).toContain("can't be reached"), PATIENCE);
      expect(stderr()).not.toContain('waiting for calls');
      team.between.isAway = false;
      await vi.waitFor(() => expect(stderr()).toMatch(/can't be reached[^]*waiting for calls to execute: 2 calls at a time\n$/), PATIENCE);
      worker.kill('SIGTERM');
      expect(await ended).toMatchObject({ status: 0 });
    });

    it('ends when it is asked to and holds nothing', { timeout: TIMEOUT_MS }, async () => {
      const team = await open();
      const worker = team.worker();
      const [ended, stderr] = [resultOf(worker), textOf(worker)];
      await vi.waitFor(() => expect(stderr()).toContain('waiting for calls'), PATIENCE);
      await sleep(1000);
      leave(team);
      await vi.waitFor(() => expect(stderr()).toContain('the worker waits for it'), PATIENCE);
      worker.kill('SIGTERM');
      expect(await ended).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 0 calls') });
    });

    it('gives it up as a run does when it is to end by itself', { timeout: TIMEOUT_MS }, async () => {
      const team = await open({ MLLD_STORE_WAIT: '1s' });
      const run = team.run('a');
      await vi.waitFor(async () => expect(await team.offers()).toBe(1), PATIENCE);
      const ended = resultOf(team.worker('--once'));
      await vi.waitFor(() => expect(team.paid()).toEqual(['a']), PATIENCE);
      leave(team);
      team.let('a');
      expect(await ended).toMatchObject({ status: 5 });
      team.between.isAway = false;
      const next = resultOf(team.worker('--once'));
      expect(await run).toMatchObject({ status: 0 });
      expect(await next).toMatchObject({ status: 0 });
      expect(team.paid()).toEqual(['a']);
    });
  },
);

function textOf(child: CliProcess): () => string {
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}
