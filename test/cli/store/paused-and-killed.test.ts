/**
 * A run with workers whose credentials are bad takes back what no worker executes, and pauses. It is killed meanwhile, and run again.
 * docs/team.md.
 *
 * PAUSE-KILL-1 no call that ended well is executed again, wherever the kill was
 * PAUSE-KILL-2 the next run has all results, leaves no offer and no claim, and the journals verify
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { Between } from '../../journal/support/between.js';
import { emptyFolder, projectFolder, resultOf, runCli } from '../../support/cli.js';
import { commandsOfTests } from './started-commands.js';

const reply = (members: string): string => `echo '{"type":"result","subtype":"success",${members}}'`;
const QUESTIONS = ['first', ...Array.from({ length: 12 }, (_, n) => `q${n}`), 'bad', ...Array.from({ length: 12 }, (_, n) => `r${n}`)];
const SCRIPT = `exe llm @ask(q) = sh {
  sleep 0.2
  if [ "$q" = bad ] && [ ! -e "$OK" ]; then ${reply('"is_error":true,"api_error_status":401,"result":"Invalid API key"')}; exit 1; fi
  echo "$q" >> "$LEDGER"
  ${reply(`"is_error":false,"total_cost_usd":0.1,"result":"done '"$q"'"`)}
} with { reply: "claude" }
var @all = for parallel(60) @q in ${JSON.stringify(QUESTIONS)} => @ask(@q)
show @all.length
`;
const PATIENCE = { timeout: 60_000, interval: 50 };
const TAKES_BACK = 'delete from mlld.offers o where o.run_id';
const ENDS = '"type":"run.finished"';

describe.skipIf(noServer !== undefined)(`a pause that is killed${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);
  const start = commandsOfTests({ MLLD_LEASE: '3s' });

  it.each([
    ['before it takes offers back', TAKES_BACK, false],
    ['behind that', TAKES_BACK, true],
    ['before its end is recorded', ENDS, false],
    ['behind that', ENDS, true],
  ])('%s: %s (done: %j)', { timeout: 240_000 }, async (_, statement, isDone) => {
    const url = database.project();
    const between = await Between.open(url);
    const folder = await projectFolder({ 'mlld-config.json': '{}', 'llm/run/hi.mld': SCRIPT });
    const [ledger, ok] = [path.join(folder, 'ledger'), path.join(folder, 'ok')];
    const paid = (): string[] => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);
    const hut = start(['worker', '--lanes', '2', '--name', 'hut'], await emptyFolder(), { MLLD_STORE: url, LEDGER: ledger, OK: ok });
    const run = start(['run', 'hi', '--checkpoint', '--workers'], folder, { MLLD_STORE: between.url });
    const ended = resultOf(run);
    let isReached = false;
    between.onSent = (text) => {
      isReached ||= text.includes(statement);
      return !isReached || (isDone && text.includes(statement));
    };
    await vi.waitFor(() => expect(isReached).toBe(true), PATIENCE);
    between.isDeaf = true;
    if (isDone) await sleep(500); // the server does it meanwhile
    run.kill('SIGKILL');
    await ended;
    await sleep(1000); // what the worker holds ends
    appendFileSync(ok, '');
    const again = resultOf(start(['run', 'hi', '--checkpoint', '--workers', '--resume'], folder, { MLLD_STORE: url }));
    expect(await again).toMatchObject({ status: 0, stdout: `${QUESTIONS.length}\n` });
    expect(paid().sort()).toEqual([...QUESTIONS].sort()); // PAUSE-KILL-1
    hut.kill('SIGTERM');
    expect(await resultOf(hut)).toMatchObject({ status: 0 });
    expect(await runCli(['journal', 'verify', 'hi'], { cwd: folder, env: { MLLD_STORE: url } })).toMatchObject({ status: 0 });
    const left = await database.query(
      `select 'claim' as what from mlld.claims c join mlld.runs r using (run_id) where r.finished
       union all select 'offer' from mlld.offers o join mlld.runs r using (run_id) where r.finished`,
      [],
    );
    expect(left).toEqual([]); // PAUSE-KILL-2
  });
});
