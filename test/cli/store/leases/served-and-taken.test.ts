/** A server whose run was taken by another one neither claims it nor acts on it. team-store.md 4.5, graph-pipelines.md 13.2. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { projectFolder, runCli } from '../../../support/cli.js';
import { pipeline } from '../../../support/pipeline-run.js';
import { serve, type Served } from '../../../support/served.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
/** Each stage says that it began; it ends when the file of that name is there. */
const WORK = 'echo $MLLD_NODE_ID >> begun; until test -e $MLLD_NODE_ID.end; do sleep 0.05; done; echo reply';

const is =
  (word: string) =>
  ({ status }: { status: string }): boolean =>
    status === word;

describe.skipIf(noServer !== undefined)(
  `a server whose run was taken${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
    const servers: Served[] = [];
    afterEach(async () => {
      await Promise.all(servers.splice(0).map((served) => served.end('SIGKILL')));
    });

    async function open(folder: string, MLLD_STORE: string): Promise<Served> {
      const served = await serve({ folder, env: { MLLD_STORE, MLLD_LEASE: '2s' } });
      servers.push(served);
      return served;
    }

    /** The first server sleeps until the second one has resumed its run. */
    async function taken(first: Served, second: Served, id: string, hasResumed: () => Promise<unknown>): Promise<void> {
      first.child.kill('SIGSTOP');
      try {
        await second.until(`/pipelines/${id}`, is('interrupted'));
        expect(await second.post(`/pipelines/${id}/resume`)).toMatchObject({ status: 202 });
        await hasResumed();
      } finally {
        first.child.kill('SIGCONT');
      }
    }

    it('says what its store says, and resumes it when the calls in flight have ended', { timeout: 120_000 }, async () => {
      const stages = ['a', 'b', 'c'].map((name) => `${name} [prompt="p"]`).join('; ');
      const folder = await projectFolder({ 'p.dot': pipeline(`${stages}; start -> a -> b -> c -> exit`, `backend="cmd:${WORK}"`) });
      const file = (name: string): string => path.join(folder, name);
      const begun = (): string => (existsSync(file('begun')) ? readFileSync(file('begun'), 'utf8').replaceAll('\n', '') : '');
      const end = (name: string): void => writeFileSync(file(`${name}.end`), '');
      const store = database.project();
      const [first, second] = [await open(folder, store), await open(folder, store)];
      try {
        end('a');
        const { body } = await first.post('/pipelines', { file: 'p.dot' });
        const { id } = body as { id: string };
        const at = `/pipelines/${id}`;
        await vi.waitFor(() => expect(begun()).toBe('ab'), PATIENCE);
        await taken(first, second, id, () => vi.waitFor(() => expect(begun()).toBe('abb'), PATIENCE));
        expect(await first.post(`${at}/cancel`)).toMatchObject({ status: 409, body: { error: { code: 'RUN_ELSEWHERE' } } });
        expect(await first.get(`${at}/output`)).toMatchObject({ body: { executed_here: false } });
        await second.end('SIGKILL');
        await first.until(at, is('interrupted'));
        expect(await first.post(`${at}/resume`)).toMatchObject({ status: 409, body: { error: { code: 'RUN_GOES_ON' } } });
        end('b');
        const said = `where no other process goes on with it, POST ${at}/resume resumes it`;
        await vi.waitFor(() => expect(first.stderr()).toContain(said), PATIENCE);
        expect(first.stderr()).toContain('g paused');
        expect(first.stderr()).not.toContain('--resume');
        expect(first.stderr()).not.toContain('paused: paused');
        expect((await first.get('/pipelines')).body).toMatchObject([{ id, status: 'interrupted' }]);
        end('c');
        expect(await first.post(`${at}/resume`)).toMatchObject({ status: 202 });
        await first.until(at, is('completed'));
        expect(begun()).toBe('abbc');
      } finally {
        end('b');
        end('c');
      }
    });

    it('takes no answer for it in another folder, where nothing reads that', { timeout: 120_000 }, async () => {
      const text = pipeline('gate [shape=hexagon, label="Go?"]; start -> gate; gate -> exit [label="[Y] Yes"]');
      const [here, there] = [await projectFolder({ 'p.dot': text }), await projectFolder({ 'p.dot': text })];
      const store = database.project();
      const [first, second] = [await open(here, store), await open(there, store)];
      const { body } = await first.post('/pipelines', { file: 'p.dot' });
      const { id } = body as { id: string };
      const at = `/pipelines/${id}`;
      await first.until(at, is('waiting'));
      await taken(first, second, id, () => second.until(at, is('waiting')));
      const answered = await runCli(['answer', id, 'Y'], { cwd: here, env: { MLLD_STORE: store } });
      expect(answered).toMatchObject({ status: 1, stderr: expect.stringContaining('does not run in this folder') });
      const refused = await first.post(`${at}/questions/q2/answer`, { value: 'Y' });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'RUN_ELSEWHERE' } } });
      expect(await second.post(`${at}/questions/q2/answer`, { value: 'Y' })).toMatchObject({ status: 200 });
      await first.until(at, is('completed'));
    });
  },
);
