/** Runs that offer calls which guards hold for, or with secrets in them, as processes on a server. team-store.md 7.2 and 9.3. */
import { afterEach, describe, expect, it } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { emptyFolder, projectFolder, resultOf, runCli, startCli, type CliProcess } from '../../support/cli.js';

const TIMEOUT_MS = 240_000;

describe.skipIf(noServer !== undefined)(`offers${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const running: CliProcess[] = [];
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });

  async function worker(url: string): Promise<CliProcess> {
    const words = ['worker', '--lanes', '4', '--name', 'hut'];
    const child = startCli(words, { cwd: await emptyFolder(), env: { MLLD_STORE: url, MLLD_LEASE: '2s' } });
    child.stdin.end();
    running.push(child);
    return child;
  }

  it(
    'pass the guards of the run first: what they deny is not offered, and what they replace goes with the offer',
    async () => {
      const url = database.project();
      const folder = await projectFolder({
        'mlld-config.json': '{}',
        'llm/run/guarded.mld': `
exe llm @ask(q) = sh { printf 'said %s' "$q"; pwd >&2 }
exe llm @check(q) = sh { printf 'checked %s' "$q" }
exe llm @after(q) = sh { printf 'after %s' "$q" }
exe @part(q) = sh { printf 'part %s' "$q" }
exe llm @inside(q) = [ => @part(@q) ]
exe llm @labelled(q) = [ let @x = sh (@q) { printf 'labelled %s' "$q" }
  => @x ]
exe @visit(q) = when [
  denied => \`refused: @mx.guard.reason\`
  * => @ask(@q)
]
exe llm @kept(q) = when [
  denied => "kept: shut"
  * => \`given @q\`
]
guard @strict before @ask = when [
  @input[0] == "bad" => deny "not that one"
  @input[0] == "dull" => allow "bright"
  @check(@input[0]) == "checked none" => deny "none"
]
guard @shut before @kept = when [ @input[0] == "bad" => deny "shut"; * => allow ]
guard @late after @after = when [ * => allow \`@output, and guarded\` ]
guard @parts before @part = when [ * => allow ]
guard @pii before pii = when [ * => allow ]
var pii @name = "Rosa"
show @visit("bad")
show @visit("dull")
show @visit("fine")
show @kept("bad")
show @kept("good")
show @after("x")
show @inside("y")
show @labelled(@name)
show @labelled("nobody")
var @reply = @ask(@name)
show @reply
show @reply.mx.labels.join(" ")
`,
      });
      const env = { MLLD_STORE: url, MLLD_LEASE: '2s' };
      const stdout = [
        'refused: not that one',
        'said bright',
        'said fine',
        'kept: shut',
        'given good',
        'after x, and guarded',
        'part y',
        'labelled Rosa',
        'labelled nobody',
        'said Rosa',
        'pii llm',
        '',
      ].join('\n');
      const hut = await worker(url);
      const run = await runCli(['run', 'guarded', '--checkpoint', '--workers'], { cwd: folder, env });
      expect(run).toMatchObject({ status: 0, stdout });
      expect(run.stderr).toContain('calls of @after are executed here: an after-guard holds for it');
      expect(run.stderr).toContain('calls of @inside are executed here: guards hold for what happens inside it');
      expect(run.stderr).toContain('calls of @labelled are executed here: guards hold for what happens inside it');
      expect(run.stderr).not.toMatch(/calls of @(ask|check|kept) are executed here/);
      const shown = await runCli(['journal', 'show', 'guarded'], { cwd: folder, env });
      expect(shown.stdout).toMatch(/@ask.* executed by the worker hut on \S+: reused/);
      expect(await runCli(['journal', 'replay', 'guarded'], { cwd: folder, env })).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining('diverge'),
      });
      // The results are found under the keys and definitions of calls that the run would have executed itself.
      const again = await runCli(['run', 'guarded', '--checkpoint', '--changed', 'ask'], { cwd: folder, env });
      expect(again).toMatchObject({ status: 0, stdout, stderr: expect.stringContaining('8 reused, 2 denied') });
      hut.kill('SIGTERM');
      expect(await resultOf(hut)).toMatchObject({ status: 0 });
    },
    TIMEOUT_MS,
  );
});
