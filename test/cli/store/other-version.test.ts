/** A run over a store whose tables are of another version of mlld. It ends before its first statement. team-store.md 12. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { projectFolder, runCli } from '../../support/cli.js';

const SCRIPT = 'exe llm @ask(q) = sh { echo "$q" >> calls.log; echo done }\nshow "begun"\nshow @ask("depth")\n';
const FILES = { 'mlld-config.json': '{}', 'llm/run/hi.mld': SCRIPT };

describe.skipIf(noServer !== undefined)(
  `a run over tables of another version${noServer === undefined ? '' : ` (not run: ${noServer})`}`,
  async () => {
    const empty = noServer === undefined ? await makeDatabase({ migrated: false }) : (undefined as unknown as TestDatabase);
    const newer = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
    if (noServer === undefined) await newer.query('update mlld.meta set version = 99, min_client = 99', []);

    it.each([
      ['none', () => empty.project(), 'the tables of this version', 'mlld store migrate'],
      ['newer ones', () => newer.project(), 'of version 99', 'install'],
    ])('%s: executes nothing, names the remedy, and is no paused one', async (_, url, problem, remedy) => {
      const cwd = await projectFolder(FILES);
      const ran = await runCli(['run', 'hi', '--checkpoint'], { cwd, env: { MLLD_STORE: url() } });
      expect(ran).toMatchObject({ status: 1, stdout: '' });
      expect([ran.stderr, ran.stderr]).toEqual([expect.stringContaining(problem), expect.stringContaining(remedy)]);
      expect(ran.stderr).not.toMatch(/paused|resume/);
      expect(existsSync(path.join(cwd, 'calls.log'))).toBe(false);
    });
  },
);
