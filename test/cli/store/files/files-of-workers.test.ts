/** Files that calls write at a worker. calls.md 22, team-store.md 7.2. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../../journal/postgres/database.js';
import { emptyFolder, projectFolder, resultOf, runCli } from '../../../support/cli.js';
import { commandsOfTests } from '../started-commands.js';

const TIMEOUT_MS = 240_000;

describe.skipIf(noServer !== undefined)(`workers${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests();

  it.each([{ words: [] }, { words: ['--root', '.'] }])(
    'bring back the files that their calls wrote, and are executed here where a call inside has to restore its own: $words',
    async ({ words }) => {
      const url = database.project();
      const ledger = path.join(await emptyFolder(), 'ledger');
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/draw.mld': [
          'exe llm @draw(q, file) = sh { echo "draw $q" >> "$LEDGER"; echo "picture of $q" > "$file"; echo "drew $q" }',
          'exe @note(q) = sh { echo "note $q" >> "$LEDGER"; echo "noted" }',
          'exe llm @outer(q) = [ let @x = @draw(@q, `@q\\.svg`)\n let @y = @note(@q)\n => "@x @y" ]',
          'show @draw("flow", "chart.svg")',
          'show @outer("deep")',
          '',
        ].join('\n'),
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s', LEDGER: ledger };
      const hut = start(['worker', '--lanes', '1', '--name', 'hut', ...words], await emptyFolder(), env);
      const run = await runCli(['run', 'draw', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stdout: 'drew flow\ndrew deep noted\n' });
      expect(run.stderr).toContain('deep.svg, which a call inside @outer wrote, is gone; @outer is executed again');
      expect(readFileSync(path.join(folder, 'chart.svg'), 'utf8')).toBe('picture of flow\n');
      expect(readFileSync(path.join(folder, 'deep.svg'), 'utf8')).toBe('picture of deep\n');
      // A worker would lose the file of the call inside as often as the call were offered: CACHE-7.
      expect(readFileSync(ledger, 'utf8').trim().split('\n')).toEqual(['draw flow', 'draw deep', 'note deep', 'note deep']);
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0, stderr: expect.stringContaining('executed 2 calls') });
    },
    TIMEOUT_MS,
  );
});
