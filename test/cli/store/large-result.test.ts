/** Large results of calls that end while the store of a team is away, and texts of scripts. team-store.md 4.4. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { Between } from '../../journal/support/between.js';
import { projectFolder, resultOf, runCli, startCli } from '../../support/cli.js';

const TIMEOUT_MS = 120_000;
const LARGE = 300_000;

describe.skipIf(noServer !== undefined)(`a large result${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  /** Starts a run whose call ends while the store is away. */
  async function endWhileAway(env: { readonly [name: string]: string } = {}) {
    const between = await Between.open(database.project());
    const folder = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': `exe llm @ask(q) = sh { touch began; until test -e go; do sleep 0.05; done; echo x >> ledger; head -c ${LARGE} /dev/zero | tr '\\0' x }\nvar @answer = @ask("one")\nshow @answer.length\n`,
    });
    const store = { MLLD_STORE: between.url, MLLD_LEASE: '5s' };
    const ended = resultOf(startCli(['run', 'hi', '--checkpoint'], { cwd: folder, env: { ...store, ...env } }));
    while (!existsSync(path.join(folder, 'began'))) await sleep(50);
    between.isAway = true;
    between.cut();
    writeFileSync(path.join(folder, 'go'), '');
    while (!existsSync(path.join(folder, 'ledger'))) await sleep(50);
    return { between, ended, again: () => runCli(['run', 'hi', '--checkpoint'], { cwd: folder, env: store }) };
  }

  const reused = { status: 0, stdout: `${LARGE}\n`, stderr: expect.stringContaining('1 reused') };

  it(
    'waits for the store, and is recorded when it is back',
    async () => {
      const { between, ended, again } = await endWhileAway();
      await sleep(500);
      between.isAway = false;
      expect(await ended).toMatchObject({ status: 0, stdout: `${LARGE}\n` });
      expect(await again()).toMatchObject(reused);
    },
    TIMEOUT_MS,
  );

  it(
    'lies in the spill when the store stays away, and the next run brings it in',
    async () => {
      const { between, ended, again } = await endWhileAway({ MLLD_STORE_WAIT: '2s' });
      expect(await ended).toMatchObject({ stdout: `${LARGE}\n` });
      between.isAway = false;
      expect(await again()).toMatchObject(reused);
    },
    TIMEOUT_MS,
  );

  it(
    'is not all that waits: so does the text of a script, which workers and replays need',
    async () => {
      const between = await Between.open(database.project());
      const cwd = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/hi.mld': 'exe llm @ask(q) = cmd {echo "@q"}\nshow @ask("one")\n',
      });
      const env = { MLLD_STORE: between.url };
      let cuts = 0;
      between.onSent = (text) => {
        if (cuts > 0 || !text.includes('mlld.put_blob')) return true;
        cuts++;
        setImmediate(() => between.cut());
        return false;
      };
      expect(await runCli(['run', 'hi', '--checkpoint'], { cwd, env })).toMatchObject({
        status: 0,
        stdout: 'one\n',
        stderr: expect.not.stringContaining('warning'),
      });
      expect(cuts).toBe(1);
      expect(await runCli(['journal', 'replay', 'hi'], { cwd, env })).toMatchObject({ status: 0, stdout: 'one\n' });
    },
    TIMEOUT_MS,
  );
});
