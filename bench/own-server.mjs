// The store of a team for a measurement: the one that MLLD_STORE names, or for MLLD_STORE=own a server that is started for it.

import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, execPath, getuid } from 'node:process';
import { fileURLToPath } from 'node:url';

const CONNECTIONS = 400;

/** Returns the address, which MLLD_STORE is from then on, for the processes that are started. */
export async function storeAddress() {
  if (env.MLLD_STORE === 'own') env.MLLD_STORE = await startServer();
  if (!env.MLLD_STORE) throw new Error('MLLD_STORE names no store: MLLD_STORE=postgres://127.0.0.1/mlld?project=bench, or MLLD_STORE=own');
  return env.MLLD_STORE;
}

/** Its data lie in a folder for temporary files, and go away with this process. Syncs are as the disk of that folder makes them. */
async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'mlld-bench-server-'));
  const [data, log] = ['data', 'log'].map((name) => join(folder, name));
  const bin = run('pg_config', ['--bindir']).trim();
  const user = getuid() === 0 ? { uid: Number(run('id', ['-u', 'postgres'])), gid: Number(run('id', ['-g', 'postgres'])) } : {}; // never root
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const control = (...words) => spawnSync(join(bin, 'pg_ctl'), ['-D', data, ...words], { ...user, cwd: folder, stdio: 'ignore' });
  process.on('exit', () => {
    control('-m', 'immediate', '-w', 'stop');
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  run(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], { ...user, cwd: folder });
  const port = await freePort();
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=${CONNECTIONS}`;
  if (control('-l', log, '-o', options, '-w', 'start').status !== 0)
    throw new Error(`the server did not start: ${readFileSync(log, 'utf8')}`);
  const database = `bench_${process.pid}`; // the processes of its connections are told by it from those of another server
  run(join(bin, 'createdb'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'bench', database]);
  const url = `postgres://bench@127.0.0.1:${port}/${database}?project=bench`;
  const cli = fileURLToPath(new URL('../dist/mlld.cjs', import.meta.url));
  run(execPath, [cli, 'store', 'migrate', '--yes'], { env: { ...env, MLLD_STORE: url } });
  return url;
}

function run(program, words, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
