/** Each command that reads or records, as a user of the store of a team calls it. docs/team.md names what does not work there. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { COMMANDS } from '../../../cli/command-table/commands.js';
import { makeDatabase, noServer, type TestDatabase } from '../../journal/postgres/database.js';
import { projectFolder, resultOf, runCli, startCli, type CliResult } from '../../support/cli.js';
import { serve } from '../../support/served.js';

const SCRIPT = `exe llm @ask(q) = cmd { echo "answer to @q" }
show @ask("one")
checkpoint "between"
show @ask("two")
`;
const PIPELINE = `digraph gate {
  start [shape=Mdiamond]
  exit [shape=Msquare]
  load [shape=parallelogram, tool_command="echo 4 cars"]
  warden [shape=hexagon, label="Open the field?"]
  start -> load -> warden
  warden -> exit [label="[O] Open"]
  warden -> load [label="[A] Again"]
}
`;
const WORKFLOW = `export const meta = { name: 'audit', description: 'asks one agent' }
const said = await agent('say tide')
return said
`;
const FILES = { 'llm/run/hi.mld': SCRIPT, 'gate.dot': PIPELINE, 'audit.js': WORKFLOW, 'mlld-config.json': '{}' };
const TIMEOUT_MS = 240_000;
const PATIENCE = { timeout: 40_000, interval: 300 };
const BACKEND = ['--backend', 'cmd:echo ebb'];

/** Lists commands with a text that each must print. */
const READERS: readonly (readonly [words: string, expected: string])[] = [
  ['run hi --plan', '2 reused'],
  ['run gate.dot --plan', 'warden'],
  ['validate gate.dot', 'ok'],
  ['checkpoint list hi', 'Total: 2'],
  ['checkpoint inspect hi', 'one'],
  ['journal list', 'gate.dot'],
  ['journal list', 'PERSON'],
  ['journal list --format csv', `@${hostname()}`],
  ['store push', 'Nothing is kept here'],
  ['journal show hi', 'reused from event'],
  ['journal show gate.dot', 'warden'],
  ['journal show audit.js', 'audit'],
  ['journal cat hi main/ask#0', 'answer to one'],
  ['journal explain hi', '2 reused'],
  ['journal replay hi', 'answer to one'],
  ['journal replay gate.dot', 'gate: completed'],
  ['journal replay audit.js', 'ebb'],
  ['journal postmortem hi', 'completed'],
  ['journal postmortem gate.dot', 'warden'],
  ['journal audit hi', '@ask'],
  ['journal audit gate.dot', 'echo 4 cars'],
  ['journal diff hi@2 hi', '2 calls the same'],
  ['journal stats', 'runs'],
  ['journal export hi --format csv', 'ask'],
  ['journal export hi --format otlp-json', 'resourceSpans'],
  ['journal export hi --format chrome-trace', 'traceEvents'],
  ['journal export hi --format ndjson', 'run.started'],
  ['journal report hi --json', '"spans"'],
  ['journal verify hi', 'sound'],
  ['journal verify gate.dot', 'sound'],
  ['graph render gate.dot -o gate.svg', ''],
  ['store status', 'in this project'],
  ['store budget nightly 50usd --per day', 'nightly'],
  ['store rebuild --dry-run', 'what the journals say'],
];

/** Lists the commands that other tests of this folder call, and those that know nothing of runs. */
const ELSEWHERE = new Set(
  'init docs checkpoint journal graph modules store lsp completion journal_gc journal_redact journal_bundle journal_unbundle store_migrate store_copy store_seal worker worker_status'
    .split(' ')
    .map((word) => word.replace('_', ' ')),
);

describe.skipIf(noServer !== undefined)(`commands on a store${noServer === undefined ? '' : ` (not run: ${noServer})`}`, async () => {
  const database = noServer === undefined ? await makeDatabase() : (undefined as unknown as TestDatabase);

  it(
    'record into it, read it and answer from it, as with files',
    async () => {
      const env = { MLLD_STORE: database.project() };
      const cwd = await projectFolder(FILES);
      const called = new Set(['validate']);
      const mlld = async (...words: string[]): Promise<CliResult> => {
        called.add(words[0]!).add(words.slice(0, 2).join(' '));
        return runCli(words, { cwd, env });
      };
      for (let n = 0; n < 2; n++) expect(await mlld('run', 'hi', '--checkpoint')).toMatchObject({ status: 0 });
      expect((await mlld('run', 'hi', '--resume', 'between')).stderr).toContain('1 reused, 1 executed');
      expect(await mlld('journal', 'reject', 'hi', 'main/ask#1')).toMatchObject({ status: 0 });
      expect((await mlld('run', 'hi', '--checkpoint')).stderr).toContain('1 reused, 1 executed');
      await mlld('run', 'hi', '--checkpoint');
      expect(await mlld('run', 'audit.js', ...BACKEND)).toMatchObject({ status: 0, stdout: expect.stringContaining('ebb') });

      const asked = resultOf(startCli(['run', 'gate.dot', '--ask', 'remote'], { cwd, env }));
      await vi.waitFor(async () => expect((await mlld('journal', 'show', 'gate.dot')).stdout).toContain('Open the field?'), PATIENCE);
      const followed = resultOf(startCli(['journal', 'show', 'gate.dot', '--follow'], { cwd, env }));
      expect(await mlld('answer', 'gate.dot', 'O')).toMatchObject({ status: 0 });
      expect(await asked).toMatchObject({ status: 0, stdout: 'gate: completed\n' });
      expect(await followed).toMatchObject({ status: 0, stdout: expect.stringContaining('run completed') });

      for (const [words, expected] of READERS) {
        const { status, stdout, stderr } = await mlld(...words.split(' '));
        expect({ words, status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining(expected) });
      }
      expect(await mlld('journal', 'report', 'hi', '-o', 'hi.html')).toMatchObject({ status: 0 });
      expect(readFileSync(path.join(cwd, 'hi.html'), 'utf8')).toContain('answer to two');
      called.add('journal open');
      const open = startCli(['journal', 'open', 'hi', '--no-browser'], { cwd, env });
      const closed = resultOf(open);
      const [address] = (await once(open.stdout, 'data')) as [Buffer | string];
      expect(await (await fetch(String(address).trim())).text()).toContain('answer to two');
      open.kill('SIGTERM');
      expect(await closed).toMatchObject({ status: 0 });
      expect(await mlld('checkpoint', 'clean', 'hi')).toMatchObject({ status: 0 });
      expect((await mlld('run', 'hi', '--checkpoint')).stderr).toContain('2 executed');
      expect(existsSync(path.join(cwd, '.mlld', 'journal'))).toBe(false);

      const served = await serve({ folder: cwd, env });
      called.add('serve');
      const id = await served.send(PIPELINE.replace('gate', 'sent'));
      await served.until(`/pipelines/${id}`, ({ status }: { status: string }) => status === 'waiting');
      expect((await served.get(`/pipelines/${id}/questions`)).body).toMatchObject([{ stage: 'warden' }]);
      await served.end('SIGTERM');
      expect((await mlld('journal', 'list')).stdout).toContain('interrupted');

      expect(
        Object.keys(COMMANDS).filter((words) => !called.has(words) && !ELSEWHERE.has(words) && !/^(modules|graph) /.test(words)),
      ).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
