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

  /** Starts a run whose call, or whose command without `llm`, ends while the store is away. */
  async function endWhileAway(env: { readonly [name: string]: string } = {}, label = 'llm ') {
    const between = await Between.open(database.project());
    const folder = await projectFolder({
      'mlld-config.json': '{}',
      'llm/run/hi.mld': `exe ${label}@ask(q) = sh { touch began; until test -e go; do sleep 0.05; done; echo x >> ledger; head -c ${LARGE} /dev/zero | tr '\\0' x }\nvar @answer = @ask("one")\nshow @answer.length\n`,
    });
    const store = { MLLD_STORE: between.url, MLLD_LEASE: '5s' };
    const ended = resultOf(startCli(['run', 'hi', '--checkpoint'], { cwd: folder, env: { ...store, ...env } }));
    while (!existsSync(path.join(folder, 'began'))) await sleep(50);
    between.isAway = true;
    between.cut();
    writeFileSync(path.join(folder, 'go'), '');
    while (!existsSync(path.join(folder, 'ledger'))) await sleep(50);
    const cli = (...words: readonly string[]) => runCli(words, { cwd: folder, env: store });
    return { between, ended, cli, again: () => cli('run', 'hi', '--checkpoint') };
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

  it.each([
    ['comes back', '60s', false],
    ['stays away, and its spill is pushed', '2s', true],
  ])(
    'of a command without llm is replayed where the store %s',
    async (_, MLLD_STORE_WAIT, isPushed) => {
      const { between, ended, cli } = await endWhileAway({ MLLD_STORE_WAIT }, '');
      if (isPushed) await ended;
      else await sleep(500);
      between.isAway = false;
      const { stdout, stderr } = await ended;
      expect(stdout).toBe(`${LARGE}\n`);
      expect(stderr).not.toContain('may not find');
      if (isPushed) expect(await cli('store', 'push')).toMatchObject({ status: 0 });
      expect(await cli('journal', 'replay', 'hi')).toMatchObject({ status: 0, stdout: `${LARGE}\n` });
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
