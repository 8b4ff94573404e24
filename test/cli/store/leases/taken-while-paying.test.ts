/** A run that is taken while a paid call of it is in flight waits for that call, and for nothing else. team-store.md 4.5. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { projectFolder, resultOf, runCli, startCli } from '../../../support/cli.js';
import { pipeline } from '../../../support/pipeline-run.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
/** Each stage says that it began; it ends when the file of that name is there. */
const WORK = 'echo $MLLD_NODE_ID >> begun; until test -e $MLLD_NODE_ID.end; do sleep 0.05; done; echo reply';
const TOOL = `shape=parallelogram, tool_command="${WORK}"`;

describe.skipIf(noServer !== undefined)(
  `a run that is taken while it pays${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

    /** A project whose runs of one workflow can be taken: as if their process had not answered for a lease. */
    async function project(files: Readonly<Record<string, string>>, workflow = 'p.dot') {
      const cwd = await projectFolder({ 'mlld-config.json': '{}', ...files });
      const MLLD_STORE = database.project();
      const env = { MLLD_STORE, MLLD_LEASE: '8s' };
      const name = new URL(MLLD_STORE).searchParams.get('project');
      const file = (of: string): string => path.join(cwd, of);
      return {
        start: (...args: string[]) => startCli(['run', workflow, ...args], { cwd, env }),
        run: (...args: string[]) => runCli(args, { cwd, env }),
        begun: (): string[] => (existsSync(file('begun')) ? readFileSync(file('begun'), 'utf8').trim().split('\n') : []),
        end: (...stages: string[]) => stages.forEach((stage) => writeFileSync(file(`${stage}.end`), '')),
        asleepWhile: async (work: () => Promise<unknown>) => {
          const fallAsleep = (): unknown =>
            database.query(
              `update mlld.runs r set lease_until = '-infinity' from mlld.workflows w join mlld.projects p using (project_id)
             where w.workflow_id = r.workflow_id and p.name = $1 and w.path = $2 and r.fence = 0
               and not exists (select from mlld.runs before where before.workflow_id = r.workflow_id and before.run < r.run)`,
              [name, workflow],
            );
          const timer = setInterval(fallAsleep, 50); // a heartbeat may be quicker than a command
          await fallAsleep();
          await work().finally(() => clearInterval(timer));
        },
      };
    }

    it('begins no stage, and leaves the reply to the run that goes on with it', { timeout: 120_000 }, async () => {
      const { start, run, begun, end, asleepWhile } = await project({
        'p.dot': pipeline(
          `par [shape=component]; join [shape=tripleoctagon]; model [prompt="p"]; first [${TOOL}]; second [${TOOL}];
           start -> par; par -> model -> join; par -> first -> second -> join; join -> exit`,
          `backend="cmd:${WORK}"`,
        ),
      });
      const taken = start();
      const ended = resultOf(taken);
      let stderr = '';
      taken.stderr.on('data', (text) => (stderr += text));
      try {
        await vi.waitFor(() => expect(begun().toSorted()).toEqual(['first', 'model']), PATIENCE);
        await asleepWhile(async () => expect(await run('store', 'seal', 'latest')).toMatchObject({ status: 0 }));
        await vi.waitFor(() => expect(stderr).toContain('no further call begins'), PATIENCE);
        end('first');
        await new Promise((resolve) => setTimeout(resolve, 2000)); // in which the next stage would begin
        expect(begun()).toHaveLength(2);
        end('model');
        expect(await ended).toMatchObject({ status: 6 });
        end('second');
        expect(await run('run', 'p.dot', '--resume')).toMatchObject({ status: 0, stderr: expect.stringContaining('1 reused') });
        expect(begun().toSorted()).toEqual(['first', 'first', 'model', 'second']);
      } finally {
        taken.kill('SIGKILL');
        end('first', 'second', 'model');
      }
    });

    it('leaves a reply to every resume but one at its stage, which asks for another', { timeout: 120_000 }, async () => {
      const text = pipeline('a [prompt="p"]; b [prompt="q"]; start -> a -> b -> exit', `backend="cmd:${WORK}"`);
      const { start, run, begun, end, asleepWhile } = await project({ 'p.dot': text });
      end('a');
      const taken = start('--checkpoint');
      const ended = resultOf(taken);
      try {
        await vi.waitFor(() => expect(begun()).toEqual(['a', 'b']), PATIENCE);
        await asleepWhile(async () => expect(await run('store', 'seal', 'latest')).toMatchObject({ status: 0 }));
        end('b');
        expect(await ended).toMatchObject({ status: 6 });
        expect(await run('run', 'p.dot', '--checkpoint', '--resume', 'b')).toMatchObject({ status: 0 });
        expect(begun()).toEqual(['a', 'b', 'b']);
        expect(await run('run', 'p.dot', '--checkpoint')).toMatchObject({ status: 0 });
        expect(begun()).toEqual(['a', 'b', 'b']);
      } finally {
        taken.kill('SIGKILL');
      }
    });

    it('leaves the result of an agent to the next run of its workflow', { timeout: 120_000 }, async () => {
      const text = `export const meta = { name: 'w', description: 'asks' }\nreturn [await agent('first'), await agent('second')]\n`;
      const ask = 'read -r name; echo $name >> begun; until test -e $name.end; do sleep 0.05; done; echo reply';
      const { start, run, begun, end, asleepWhile } = await project({ 'w.js': text, 'ask.sh': ask }, 'w.js');
      const backend = ['--backend', 'cmd:sh ask.sh'];
      const taken = start(...backend);
      const ended = resultOf(taken);
      try {
        await vi.waitFor(() => expect(begun()).toEqual(['first']), PATIENCE);
        await asleepWhile(async () => expect(await run('store', 'seal', 'latest')).toMatchObject({ status: 0 }));
        end('first', 'second');
        expect(await ended).toMatchObject({ status: 6 });
        expect(await run('run', 'w.js', '--resume', ...backend)).toMatchObject({ status: 0 });
        expect(begun()).toEqual(['first', 'second']);
      } finally {
        taken.kill('SIGKILL');
        end('first', 'second');
      }
    });

    it('still has its child, whose end the run that goes on with it waits for', { timeout: 120_000 }, async () => {
      const { start, begun, end, asleepWhile } = await project({
        'p.dot': pipeline('boss [shape=house, "manager.poll_interval"="50ms"]; start -> boss -> exit', '"stack.child_dotfile"="child.dot"'),
        'child.dot': pipeline('a [prompt="p"]; b [prompt="p"]; c [prompt="p"]; start -> a -> b -> c -> exit', `backend="cmd:${WORK}"`),
      });
      end('a', 'c');
      const taken = start();
      const ended = resultOf(taken);
      const resumed: { child?: ReturnType<typeof startCli>; end?: ReturnType<typeof resultOf> } = {};
      try {
        await vi.waitFor(() => expect(begun()).toEqual(['a', 'b']), PATIENCE);
        let stderr = '';
        await asleepWhile(async () => {
          resumed.child = start('--resume', '--keep-orphans');
          resumed.end = resultOf(resumed.child);
          resumed.child.stderr.on('data', (text) => (stderr += text));
          await vi.waitFor(() => expect(stderr).toContain('boss waits for the end of the child run'), PATIENCE);
        });
        end('b');
        expect(await ended).toMatchObject({ status: 6 });
        expect(await resumed.end).toMatchObject({ status: 0 });
        expect(begun()).toEqual(['a', 'b', 'c']);
      } finally {
        taken.kill('SIGKILL');
        resumed.child?.kill('SIGKILL');
        end('b');
      }
    });
  },
);
