/** A process whose `call.started` is acknowledged behind the end of its lease: another one may have the call by then. team-store.md 6. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { Between } from '../../../journal/support/between.js';
import { emptyFolder, projectFolder, resultOf, runCli, type CliProcess } from '../../../support/cli.js';
import { commandsOfTests } from '../started-commands.js';

const PATIENCE = { timeout: 60_000, interval: 100 };
const TIMEOUT_MS = 120_000;
const SCRIPT = `exe llm @agent(q) = sh {
  echo "$WHO" >> "$LEDGER"
  until [ -e "$GO" ]; do sleep 0.05; done
  echo "$WHO"
}
show @agent("a")
`;

describe.skipIf(noServer !== undefined)(
  `a call that starts behind its lease${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
    const start = commandsOfTests({ MLLD_LEASE: '1s' });

    async function open() {
      const url = database.project();
      const project = new URL(url).searchParams.get('project');
      const between = await Between.open(url);
      const cwd = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/job.mld': SCRIPT });
      const [LEDGER, GO] = [path.join(cwd, 'ledger'), path.join(cwd, 'go')];
      const env = (store: string, WHO: string) => ({ MLLD_STORE: store, LEDGER, GO, WHO });
      const cli = (...words: readonly string[]) => runCli(words, { cwd, env: env(url, 'cli') });
      return {
        between,
        cli,
        run: (who: string, ...words: readonly string[]) =>
          start(['run', 'job', '--checkpoint', ...words], cwd, env(who === 'late' ? between.url : url, who)),
        worker: async (who: string) =>
          start(['worker', '--lanes', '1', '--name', who], await emptyFolder(), env(who === 'late' ? between.url : url, who)),
        paid: () => (existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').trim().split('\n') : []),
        go: () => writeFileSync(GO, ''),
        /** The types of the events about calls, of all runs of the project. */
        async callEvents(): Promise<readonly string[]> {
          const rows = await database.query(
            `select substring(e.line from '"type":"(call[.][a-z]+)"') as type
             from mlld.events e join mlld.runs r using (run_id) join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
             where p.name = $1 and e.line like '%"type":"call.%' order by r.run_id, e.seq`,
            [project],
          );
          return rows.map(({ type }) => String(type));
        },
        /** The runs whose lease is over. */
        async lost(): Promise<readonly string[]> {
          const rows = await database.query(
            `select r.run from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
             where p.name = $1 and not r.finished and not mlld.is_alive(r.lease_until, r.lease_s)`,
            [project],
          );
          return rows.map(({ run }) => String(run));
        },
        async isHealthy(): Promise<void> {
          const verified = await cli('journal', 'verify', 'job');
          expect(verified.status, verified.stdout + verified.stderr).toBe(0);
          expect(await database.query('select key from mlld.claims', [])).toEqual([]);
        },
      };
    }
    type Team = Awaited<ReturnType<typeof open>>;

    /** The server has the start of a call of this process, which hears nothing of that until its lease is over. */
    async function loseAtStart({ between, callEvents, lost }: Team, process: CliProcess, how: 'cut' | 'stopped'): Promise<() => void> {
      between.onSent = (text) => {
        if (!text.includes('"type":"call.started"')) return true;
        if (how === 'cut') between.isAway = between.isDeaf = true;
        else between.holdsAnswers = true; // it is stopped once it has sent all of the transaction, of which this may be a part
        return true;
      };
      await vi.waitFor(async () => expect(await callEvents()).toContain('call.started'), PATIENCE);
      if (how === 'cut') between.cut();
      else {
        process.kill('SIGSTOP');
        between.onSent = () => true;
        between.passAnswers();
      }
      await vi.waitFor(async () => expect(await lost()).toHaveLength(1), PATIENCE);
      return () => {
        between.onSent = () => true;
        between.isAway = between.isDeaf = false;
        process.kill('SIGCONT');
      };
    }

    it.each(['cut', 'stopped'] as const)(
      'is not executed where another run has its result by then: %s',
      { timeout: TIMEOUT_MS },
      async (how) => {
        const team = await open();
        await team.cli('store', 'budget', 'shared', '9calls');
        const process = team.run('late', '--budget', 'shared');
        const late = resultOf(process);
        const mend = await loseAtStart(team, process, how);
        const [run = ''] = await team.lost();
        team.go();
        expect(await resultOf(team.run('other', '--budget', 'shared'))).toMatchObject({ status: 0, stdout: 'other\n' });
        mend();
        const { status, stdout, stderr } = await late;
        expect({ status, stdout, paid: team.paid() }, stderr).toEqual({ status: 0, stdout: 'other\n', paid: ['other'] });
        expect(stderr).toContain('1 call: 1 reused');
        expect(stderr).not.toContain('in vain');
        expect(await team.callEvents()).toEqual(['call.started', 'call.withdrawn', 'call.reused', 'call.started', 'call.completed']);
        await team.isHealthy();
        expect(await team.cli('journal', 'replay', run)).toMatchObject({ status: 0, stdout: expect.stringContaining('other') });
        const budget = async (): Promise<unknown> => JSON.parse((await team.cli('store', 'budget', 'shared', '--json')).stdout);
        expect(await budget()).toMatchObject({ spent: 1, reserved: 0 });
        expect(await team.cli('store', 'rebuild')).toMatchObject({ status: 0 });
        expect(await budget()).toMatchObject({ spent: 1, reserved: 0 });
      },
    );

    it('waits for another run that executes it by then', { timeout: TIMEOUT_MS }, async () => {
      const team = await open();
      const process = team.run('late');
      const late = resultOf(process);
      const mend = await loseAtStart(team, process, 'cut');
      const other = resultOf(team.run('other'));
      await vi.waitFor(() => expect(team.paid()).toEqual(['other']), PATIENCE);
      mend();
      await vi.waitFor(async () => expect(await team.callEvents()).toContain('call.withdrawn'), PATIENCE);
      await sleep(500);
      team.go();
      expect([await other, await late]).toMatchObject([
        { status: 0, stdout: 'other\n' },
        { status: 0, stdout: 'other\n' },
      ]);
      expect(team.paid()).toEqual(['other']);
      await team.isHealthy();
    });

    it('is executed where the run that had it is killed', { timeout: TIMEOUT_MS }, async () => {
      const team = await open();
      const process = team.run('late');
      const late = resultOf(process);
      const mend = await loseAtStart(team, process, 'cut');
      const other = team.run('other');
      await vi.waitFor(() => expect(team.paid()).toEqual(['other']), PATIENCE);
      mend();
      await vi.waitFor(async () => expect(await team.callEvents()).toContain('call.withdrawn'), PATIENCE);
      other.kill('SIGKILL');
      team.go();
      expect(await late).toMatchObject({ status: 0, stdout: 'late\n', stderr: expect.stringContaining('1 call: 1 executed') });
      expect(team.paid()).toEqual(['other', 'late']);
      expect(await team.callEvents()).toEqual(['call.started', 'call.withdrawn', 'call.started', 'call.completed', 'call.started']);
      await team.isHealthy();
    });

    it.each(['cut', 'stopped'] as const)('is executed where nobody took it meanwhile: %s', { timeout: TIMEOUT_MS }, async (how) => {
      const team = await open();
      const process = team.run('late');
      const late = resultOf(process);
      const mend = await loseAtStart(team, process, how);
      team.go();
      mend();
      expect(await late).toMatchObject({ status: 0, stdout: 'late\n' });
      expect(team.paid()).toEqual(['late']);
      expect(await team.callEvents()).toEqual(['call.started', 'call.completed']);
      await team.isHealthy();
    });

    it('is not executed in a run that was sealed by then', { timeout: TIMEOUT_MS }, async () => {
      const team = await open();
      const process = team.run('late');
      const late = resultOf(process);
      const mend = await loseAtStart(team, process, 'stopped');
      const [run = ''] = await team.lost();
      expect(await team.cli('store', 'seal', run)).toMatchObject({ status: 0 });
      team.go();
      mend();
      expect(await late).toMatchObject({ status: 6 });
      expect(team.paid()).toEqual([]);
    });

    it.each(['cut', 'stopped'] as const)(
      'is left to another worker that has it by then, and the worker goes on: %s',
      { timeout: TIMEOUT_MS },
      async (how) => {
        const team = await open();
        const process = await team.worker('late');
        const run = resultOf(team.run('run', '--workers'));
        const mend = await loseAtStart(team, process, how);
        const other = await team.worker('other');
        await vi.waitFor(() => expect(team.paid()).toEqual(['other']), PATIENCE);
        mend();
        await vi.waitFor(async () => expect(await team.callEvents()).toContain('call.withdrawn'), PATIENCE);
        team.go();
        expect(await run).toMatchObject({ status: 0, stdout: 'other\n' });
        other.kill('SIGTERM');
        expect(await resultOf(team.run('again', '--workers', '--fresh'))).toMatchObject({ status: 0, stdout: 'late\n' });
        expect(team.paid()).toEqual(['other', 'late']);
        process.kill('SIGTERM');
        await resultOf(process);
        await team.isHealthy();
      },
    );
  },
);
