/** Several runs of one script at once, as people of a team start them. docs/team.md. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { projectFolder, runCli } from '../../support/cli.js';

const SCRIPT = `exe llm @ask(q) = cmd { sh -c "echo @q >> paid; sleep 0.2; date +%s%N" }
var @all = for parallel(3) @q in ["a", "b", "c", "d", "e", "f"] => @ask(@q)
show @all
`;
const TIMEOUT_MS = 240_000;

describe.skipIf(noServer !== undefined)(`runs of a team at once${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it(
    'execute each call once, and show the same results',
    async () => {
      const folder = await projectFolder({ 'llm/run/hi.mld': SCRIPT, 'mlld-config.json': '{}' });
      const env = { MLLD_STORE: database.project() };
      const run = () => runCli(['run', 'hi', '--checkpoint'], { cwd: folder, env });
      const results = await Promise.all([run(), run(), run()]);
      expect(results.map(({ status, stderr }) => (status === 0 ? '' : stderr))).toEqual(['', '', '']);
      expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
      expect(readFileSync(path.join(folder, 'paid'), 'utf8').trim().split('\n').sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
      const again = await runCli(['run', 'hi', '--checkpoint', '--fresh'], { cwd: folder, env });
      expect(again.stderr).toContain('6 executed');
      const verified = await runCli(['journal', 'verify', 'hi'], { cwd: folder, env });
      expect(verified).toMatchObject({ status: 0 });
      expect(await database.query('select * from mlld.claims', [])).toEqual([]);
      expect(await database.query('select count(distinct run_id)::int as runs, count(*)::int as results from mlld.answers', [])).toEqual([
        { runs: 1, results: 6 },
      ]);
    },
    TIMEOUT_MS,
  );
});
