/** The store of a project, as programs open it, and as runs leave it: no connection to the store of a team stays behind. docs/team.md */
import { describe, expect, it, vi } from 'vitest';
import { findProject, openProjectStore, run, runPipeline, workflow, workflowOf } from '../../src/api/index.js';
import { makeDatabase, noServer, type TestDatabase } from '../journal/postgres/database.js';
import { projectFolder } from '../support/cli.js';
import { callCli } from '../support/in-process/call-cli.js';
import { pipeline } from '../support/pipeline-run.js';

describe.skipIf(noServer !== undefined)(`a run of a program${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const connections = async (): Promise<unknown> => {
    const text = 'select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
    return (await database.query(text))[0]?.['n'];
  };
  const io = { stdout: () => undefined, stderr: () => undefined };
  const FILES = {
    'mlld-config.json': '{}',
    'a.mld': 'exe llm @ask(x) = js { return x + "!" }\nshow @ask("a")\n',
    'fails.mld': 'exe llm @ask(x) = js { throw new Error("no berth") }\nshow @ask("a")\n',
    'p.dot': pipeline('a [prompt="A"]; start -> a -> exit'),
    'w.js': `export const meta = { name: 'w', description: 'x' }\nreturn await agent('a')\n`,
  };

  it.each([
    ['a script', 'a.mld'],
    ['a script that fails', 'fails.mld'],
    ['a pipeline', 'p.dot'],
    ['a workflow script', 'w.js'],
  ])('ends its connections: %s', async (_, name) => {
    const cwd = await projectFolder(FILES);
    const environment = { PATH: process.env['PATH'] ?? '', MLLD_STORE: database.project() };
    const common = { workingDirectory: cwd, environment, io };
    const execute = async (): Promise<unknown> => {
      if (name === 'w.js') return callCli(['run', 'w.js', '--backend', 'simulated'], { cwd, env: environment });
      if (name === 'p.dot') return runPipeline({ ...common, file: `${cwd}/p.dot` });
      return run({ ...common, script: { kind: 'file', path: `${cwd}/${name}` }, cache: { checkpoint: true } });
    };
    for (let round = 0; round < 2; round++)
      expect(await execute()).toMatchObject(name === 'w.js' ? { status: 0 } : { status: name === 'fails.mld' ? 'failed' : 'completed' });
    await expect.poll(connections, { timeout: 5000 }).toBe(0);
  });

  it('is found and replayed by the program, in the store of the team', async () => {
    const cwd = await projectFolder(FILES);
    vi.stubEnv('MLLD_STORE', database.project());
    try {
      const program = workflow('nightly', async (ctx) => ctx.step('count', [41], () => 42));
      const { status, journal } = await program.run(null, { project: cwd });
      expect(status).toBe('completed');
      const store = await openProjectStore(await findProject(cwd));
      expect(await store.runs(workflowOf('nightly'))).toMatchObject([{ ref: journal }]);
      expect(await program.replay(journal?.run ?? '', { project: cwd })).toMatchObject({ verdict: 'same' });
      await store.close?.();
    } finally {
      vi.unstubAllEnvs();
    }
    await expect.poll(connections, { timeout: 5000 }).toBe(0);
  });
});

describe('openProjectStore', () => {
  it('opens the files of a project without a team', async () => {
    const cwd = await projectFolder({ 'mlld-config.json': '{}', 'a.mld': 'exe llm @ask(x) = js { return x }\nshow @ask("a")\n' });
    const environment = { PATH: process.env['PATH'], MLLD_STORE: 'files' };
    const io = { stdout: () => undefined, stderr: () => undefined };
    await run({ workingDirectory: cwd, environment, io, script: { kind: 'file', path: `${cwd}/a.mld` }, cache: { checkpoint: true } });
    const store = await openProjectStore(await findProject(cwd), { environment });
    expect(await store.workflows()).toEqual(['a.mld']);
    expect(store.close).toBeUndefined();
  });

  it('refuses an option that it does not have, and a missing project', async () => {
    const project = await findProject(await projectFolder({ 'mlld-config.json': '{}' }));
    const misspelt = { enviroment: {} } as object;
    await expect(openProjectStore(project, misspelt)).rejects.toMatchObject({
      code: 'BAD_OPTION',
      message: expect.stringContaining('enviroment') as string,
    });
    await expect(openProjectStore(undefined as never)).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});
