/** Rows that a colleague has changed by SQL, with the rights of a worker or of one who records: what others are shown stays whole. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { projectFolder, resultOf, runCli } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

const FILES = { 'mlld-config.json': '{}', 'llm/run/hi.mld': 'exe llm @ask(q) = sh { echo "answer to $q" }\nshow @ask("a")\n' };

describe.skipIf(noServer !== undefined)(`rows that were changed${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests();

  async function until(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await sleep(50);
  }

  it('lists workers that say nothing of themselves, and none whose lease never ends', async () => {
    const [cwd, env] = [await projectFolder(FILES), { MLLD_STORE: database.project() }];
    expect(await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0 });
    await database.query(
      `insert into mlld.runs (workflow_id, run, role, of_run, lease_until, writer, worker)
       select r.workflow_id, '20300101-000000-00' || n, 'worker', r.run_id, u.lease, gen_random_uuid(), u.worker::jsonb
       from mlld.runs r join mlld.workflows using (workflow_id) join mlld.projects p using (project_id),
         (values (1, 'infinity'::timestamptz, '{"name":7,"version":{},"lanes":null}'), (2, clock_timestamp() + interval '1 hour', '[]'),
           (3, clock_timestamp() + interval '1 hour', '{"name":"hut\\u001b[31m\\nforged","version":"1\\n2","lanes":{"gpu":2,"x":"many"}}')) u (n, lease, worker)
       where p.name = $1`,
      [new URL(env.MLLD_STORE).searchParams.get('project')],
    );
    const { status, stdout, stderr } = await runCli(['worker', 'status'], { cwd, env });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^hut\\u001b\[31m\\nforged +1\\n2 +0\/2 +llm\/run\/hi.mld /m);
    expect(stdout).toMatch(/^ +0\/0 +llm\/run\/hi.mld /m);
    const { workers } = JSON.parse((await runCli(['worker', 'status', '--json'], { cwd, env })).stdout) as {
      readonly workers: readonly object[];
    };
    expect(workers).toMatchObject([{ slots: { gpu: 2 } }, { name: '', slots: {} }]);
    expect(await runCli(['store', 'status'], { cwd, env })).toMatchObject({ status: 0, stdout: expect.stringContaining('4 runs in this') });
  });

  it('says in one line why a worker declined a call', async () => {
    const [cwd, env] = [await projectFolder(FILES), { MLLD_STORE: database.project() }];
    const run = resultOf(start(['run', 'hi', '--checkpoint', '--workers'], cwd, env));
    await until(async () => {
      const changed = await database.query(
        `update mlld.offers o set declined =
           jsonb_build_object(E'hut\\u001b[2J\\nError: forged', jsonb_build_object('stop', true, 'why', E'no\\r\\nway' || repeat('!', 10000)))
         from mlld.workflows join mlld.projects p using (project_id) where workflows.workflow_id = o.workflow_id and p.name = $1
         returning offer_id`,
        [new URL(env.MLLD_STORE).searchParams.get('project')],
      );
      return changed.length > 0;
    });
    const { status, stdout, stderr } = await run;
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'answer to a\n' });
    expect(stderr).toMatch(
      /^calls of @ask are executed here: the worker hut \[2J Error: forged can't execute them \(no way!{100,500}\.\.\.\)$/m,
    );
  });

  it.each(['99999999-999999-999-aaaa', '99991231-235959-999-zzzz', 'odd\u001b[31m\nError: forged'])(
    'reads no run whose id is a time that no clock shows, and says so: %j',
    async (id) => {
      const [cwd, env] = [await projectFolder(FILES), { MLLD_STORE: database.project() }];
      await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
      await database.query(
        `insert into mlld.runs (workflow_id, run, lease_until, writer) select workflow_id, $2, '-infinity', gen_random_uuid()
         from mlld.workflows join mlld.projects p using (project_id) where p.name = $1`,
        [new URL(env.MLLD_STORE).searchParams.get('project'), id],
      );
      const shown = id.replaceAll(/[\u001B\n]/g, ' ');
      const warning = `warning: run ${shown} of llm/run/hi.mld is not read: its id is a time that no clock shows; remove its row from mlld.runs\n`;
      const again = await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
      expect(again).toMatchObject({ status: 0, stdout: 'answer to a\n' });
      expect(again.stderr).toContain(warning);
      for (const command of ['stats', 'list']) {
        expect(await runCli(['journal', command], { cwd, env })).toMatchObject({ status: 0, stderr: warning });
      }
      const { stdout } = await runCli(['journal', 'list', '--json'], { cwd, env });
      expect((JSON.parse(stdout) as readonly { readonly status: string }[]).map(({ status }) => status)).toEqual([
        'completed',
        'completed',
      ]);
    },
  );

  it('reads a run to its last line whose row says that it is longer than any', async () => {
    const [cwd, env] = [await projectFolder(FILES), { MLLD_STORE: database.project() }];
    await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
    const changed = await database.query(
      `update mlld.runs r set bytes = 9000000000000000000 from mlld.workflows w join mlld.projects p using (project_id)
       where r.workflow_id = w.workflow_id and p.name = $1 returning run`,
      [new URL(env.MLLD_STORE).searchParams.get('project')],
    );
    const run = String(changed[0]?.['run']);
    expect(await runCli(['journal', 'show', run], { cwd, env })).toMatchObject({ status: 0, stdout: expect.stringContaining('ask') });
    expect(await runCli(['journal', 'verify', run], { cwd, env })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('a line changed or damaged since written'),
    });
    expect(await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0, stdout: 'answer to a\n' });
  });

  it('takes the result of the next run where the index names a run of another workflow, and reuses that from then on', async () => {
    const [cwd, env] = [await projectFolder({ ...FILES, 'llm/run/ho.mld': 'show "ho"\n' }), { MLLD_STORE: database.project() }];
    await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
    await runCli(['run', 'ho', '--checkpoint'], { cwd, env });
    const project = new URL(env.MLLD_STORE).searchParams.get('project');
    const [run] = await database.query(
      `select h.run_id as hi, o.run_id as ho from mlld.projects p join mlld.workflows w using (project_id) join mlld.runs h using (workflow_id)
         join mlld.workflows v on v.project_id = p.project_id join mlld.runs o on o.workflow_id = v.workflow_id
       where p.name = $1 and w.path = 'llm/run/hi.mld' and v.path = 'llm/run/ho.mld'`,
      [project],
    );
    await database.query('delete from mlld.events where run_id = $1', [run?.['hi']]);
    await database.query('update mlld.answers set run_id = $2 where run_id = $1', [run?.['hi'], run?.['ho']]);
    const { status, stdout, stderr } = await runCli(['run', 'hi', '--checkpoint'], { cwd, env });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'answer to a\n' });
    expect(stderr).toContain('1 call: 1 executed');
    expect((await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).stderr).toContain('1 call: 1 reused');
  });

  it('rebuilds the index around damaged lines, and says which runs have some', async () => {
    const [cwd, env] = [await projectFolder({ ...FILES, 'llm/run/ho.mld': 'show "ho"\n' }), { MLLD_STORE: database.project() }];
    const run = (...words: string[]) => runCli(words, { cwd, env });
    for (const name of ['hi', 'ho', 'ho']) await run('run', name, '--checkpoint');
    const damage = async (line: string, where: string): Promise<string> => {
      const [row] = await database.query(
        `update mlld.events e set line = ${line} from mlld.runs r join mlld.workflows w using (workflow_id) join mlld.projects p using (project_id)
         where e.run_id = r.run_id and p.name = $1 and ${where} returning run`,
        [new URL(env.MLLD_STORE).searchParams.get('project')],
      );
      return String(row?.['run']);
    };
    const result = `e.line like '%"type":"call.completed"%'`;
    const first = await damage(`replace(left(e.line, -9), '"op":', '"unusable":1,"op":')`, result);
    const warning = `warning: run ${first} of llm/run/hi.mld has 1 damaged line left out here: mlld journal verify ${first} says what is lost\n`;
    expect(await run('store', 'rebuild', '--dry-run')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 removed'),
      stderr: warning,
    });
    const asJson = await run('store', 'rebuild', '--json');
    expect(asJson).toMatchObject({ status: 0, stderr: warning });
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      results: { total: 0, removed: 1 },
      damagedRuns: [{ workflow: 'llm/run/hi.mld', run: first, lines: 1 }],
    });
    expect(await run('journal', 'verify', first)).toMatchObject({ status: 1, stdout: expect.stringContaining('changed or damaged') });
    expect(await run('run', 'hi', '--checkpoint')).toMatchObject({ status: 0, stderr: expect.stringContaining('1 call: 1 executed') });
    expect(await run('run', 'hi', '--checkpoint')).toMatchObject({ status: 0, stderr: expect.stringContaining('1 call: 1 reused') });

    await damage(`'no line'`, `e.seq = 1 and w.path = 'llm/run/ho.mld'`);
    const { status, stdout, stderr } = await run('store', 'rebuild');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'The index of 1 result is what the journals say.\nFreed 0 claims and 0 offers.\n',
    });
    expect(stderr).toMatch(
      new RegExp(`^warning: 3 runs have damaged lines left out here: ${first}, \\S+, \\S+; mlld journal verify RUN says what is lost\\n$`),
    );
  });
});
