/** The server of examples/team, started and stopped as its page says. Skipped, with the reason, where no server is installed. */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';
import { PROJECT } from '../../support/source-files.js';

/** PostgreSQL refuses to run as root: then the user that its package makes starts it. */
function userOfServer(): number | undefined {
  if (process.getuid?.() !== 0) return process.getuid?.();
  const found = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' });
  return found.status === 0 ? Number(found.stdout) : undefined;
}

const user = userOfServer();
const isInstalled = globSync('/usr/lib/postgresql/*/bin/pg_ctl').length > 0;
const reason = !isInstalled ? 'no programs of PostgreSQL' : user === undefined ? 'no user but root' : undefined;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.skipIf(reason !== undefined)(`examples/team${reason === undefined ? '' : ` (not run: ${reason})`}`, () => {
  it('starts a server for a trial, which takes the runs of a project, and stops it', async () => {
    const folder = mkdtempSync('/tmp/mlld-team-'); // the folder of the tests is closed to the other user
    chmodSync(folder, 0o777);
    const script = path.join(folder, 'server.sh');
    cpSync(path.join(PROJECT, 'examples/team/server.sh'), script);
    const port = await freePort();
    const server = (word: string, env = {}): SpawnSyncReturns<string> =>
      spawnSync('sh', [script, word, path.join(folder, 'server')], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, TEAM_PORT: String(port), ...env },
        encoding: 'utf8',
        uid: user,
        stdio: ['ignore', 'pipe', 'ignore'], // the server would hold a pipe open
      });
    try {
      const started = server('start');
      expect(started.stdout).toBe(`export MLLD_STORE='postgres://mlld@127.0.0.1:${port}/mlld?project=trial'\n`);
      const env = { MLLD_STORE: /'(.*)'/.exec(started.stdout)?.[1] ?? '' };
      const cwd = await projectFolder({
        'llm/run/hi.mld': 'exe llm @ask(q) = cmd { echo "answer" }\nshow @ask("one")\n',
        'mlld-config.json': '{}',
      });
      expect(await runCli(['store', 'migrate', '--yes'], { cwd, env })).toMatchObject({ status: 0 });
      expect(await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).toMatchObject({ status: 0 });
      // A second terminal gets the line of the server that runs.
      expect(server('start', { TEAM_PORT: '5433' })).toMatchObject({ status: 0, stdout: started.stdout });
      expect((await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).stderr).toContain('1 reused');
    } finally {
      expect(server('stop').status).toBe(0);
    }
    expect(existsSync(path.join(folder, 'server/data/postmaster.pid'))).toBe(false);
    rmSync(folder, { recursive: true });
  }, 240_000);
});
