/**
 * Orchestrators of several hundred lines, in the manner of those that people write: libraries with `needs`, phases in folders, agents that
 * write files and are polled for, queues and claims, state of their own. Each is run undisturbed, replayed, killed at random, and started
 * again. Run it with `MLLD_KILLS=30` and another `MLLD_KILL_SEED` for more.
 *
 * INTERRUPTED-1 the output and the files are those of an undisturbed run
 * INTERRUPTED-2 no call whose result was on disk is executed again
 * INTERRUPTED-3 a further run makes no call
 * INTERRUPTED-4 a replay of the run does the same
 */
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { journalFiles } from '../crash/workflow.js';
import { projectFolder, resultOf, runCli, startCli, type CliResult } from '../support/cli.js';
import { PROJECT } from '../support/source-files.js';

interface Orchestrator {
  readonly name: string;
  readonly argv: readonly string[];
  /** Counts the calls that an undisturbed run executes, retries included. */
  readonly asks: number;
  readonly writes: readonly (readonly [file: string, part: string])[];
}

const orchestrators: readonly Orchestrator[] = [
  {
    name: 'review',
    argv: ['run', 'review', '--checkpoint'],
    asks: 30,
    writes: [
      ['run/report.md', '## src/tide.py\n\n- **F0** line 3: evaluates text (3 votes)\n'],
      ['run/findings.csv', 'F4,src/auth.py:1,1,left-over output\n'],
      ['run/events.jsonl', '{"event":"bad-review","file":"src/tide.py","lens":"style","problem":"no list of findings"}\n'],
    ],
  },
  {
    name: 'translate',
    argv: ['run', 'translate', '--checkpoint'],
    asks: 22,
    writes: [
      [
        'out/sv/arrival.md',
        '```sh\nport call --channel 12\n```\n\n## At the berth\n\nFörtöj vid din kajplats. Skriv till crew@port.example\n',
      ],
      ['out/de/terms.csv', 'term,use\nharbour,Hafen\n'],
      ['out/index.yaml', '  - code: sv\n    files:\n      - sv/arrival.md\n      - sv/fees.md\n    terms: 3\n'],
      ['out/feed.jsonl', '{"fn":"askVerdict","model":"opus","cached":false}\n'],
    ],
  },
  {
    name: 'upgrade',
    argv: ['fleet/index.mld', '--checkpoint'],
    asks: 17,
    writes: [
      ['work/decisions/tide.json', '"because": [\n    "cautious: too far",\n    "reader: metres"\n  ]'],
      ['work/notice.md', '* crane is 1.0.0 now\n\nNot taken: ["tide (leave)"]'],
      ['work/versions.txt', 'crane 1.0.0\n'],
      ['work/ledger.jsonl', '{"fn":"patch","reused":false}\n'],
    ],
  },
];

const KILLS = Number(process.env['MLLD_KILLS'] ?? 3);
const SEED = Number(process.env['MLLD_KILL_SEED'] ?? 1);
const TIMEOUT_MS = 60_000 + KILLS * 10_000;

describe.concurrent.each(orchestrators)('the orchestrator $name', ({ name, argv, asks, writes }) => {
  it(
    'does the same when it is killed and started again, when it is replayed, and when nothing is left to do',
    async () => {
      const undisturbed = await copyOf(name);
      const stdout = readFileSync(path.join(undisturbed, 'expected.txt'), 'utf8');
      const first = await run(undisturbed, argv);
      expect(first, first.stderr).toMatchObject({ status: 0, stdout });
      expect(asked(undisturbed)).toBe(asks);
      for (const [file, part] of writes) expect(readFileSync(path.join(undisturbed, file), 'utf8')).toContain(part);
      const replay = await run(undisturbed, ['journal', 'replay', 'latest']);
      expect(replay, replay.stderr).toMatchObject({ status: 0, stdout }); // INTERRUPTED-4

      const cwd = await copyOf(name);
      let killed = 0;
      for (const begun of moments(asks)) killed += (await runKilled(cwd, argv, begun)).status === undefined ? 1 : 0;
      expect(killed).toBeGreaterThan(0);
      const last = await run(cwd, argv);
      expect(last, last.stderr).toMatchObject({ status: 0, stdout }); // INTERRUPTED-1
      expect(settledFiles(cwd)).toEqual(settledFiles(undisturbed));
      expect(startedAfterTheirResult(cwd)).toEqual([]); // INTERRUPTED-2
      const before = asked(cwd);
      const again = await run(cwd, argv);
      expect(again, again.stderr).toMatchObject({ status: 0, stdout });
      expect(asked(cwd)).toBe(before); // INTERRUPTED-3
    },
    TIMEOUT_MS,
  );

  it('is valid', async () => {
    const { stdout, status } = await run(path.join(PROJECT, 'test/workflows', name), ['validate', '.', '--deep']);
    expect(status, stdout).toBe(0);
  });
});

async function copyOf(name: string): Promise<string> {
  const cwd = await projectFolder();
  cpSync(path.join(PROJECT, 'test/workflows', name), cwd, { recursive: true });
  return cwd;
}

/** The programs that stand in for models come first on the path: those of the workflow, then the stubs. */
function environment(cwd: string): { readonly [name: string]: string } {
  const folders = [path.join(cwd, 'bin'), path.join(PROJECT, 'test/conformance/stubs'), process.env['PATH']];
  return { PATH: folders.join(':'), ASKED: path.join(cwd, 'asked.log'), STUB_PLAN: path.join(cwd, 'plan.json') };
}

function run(cwd: string, argv: readonly string[]): Promise<CliResult> {
  return runCli(argv, { cwd, env: environment(cwd) });
}

/** Sends SIGKILL when that many more calls have begun; a run that ends before has its exit status. */
async function runKilled(cwd: string, argv: readonly string[], begun: number): Promise<CliResult> {
  const child = startCli(argv, { cwd, env: environment(cwd) });
  child.stdin.end();
  const end = resultOf(child);
  const until = asked(cwd) + begun;
  while (child.exitCode === null && asked(cwd) < until) await sleep(5);
  child.kill('SIGKILL');
  return end;
}

/** Returns how many calls the stand-ins for models were asked, over all runs. */
function asked(cwd: string): number {
  return ['asked.log', 'ledger.ndjson']
    .map((name) => path.join(cwd, name))
    .filter((file) => existsSync(file))
    .reduce((sum, file) => sum + (readFileSync(file, 'utf8').match(/^start |"event":"start"/gm)?.length ?? 0), 0);
}

/** Returns what a run leaves, without journals, logs, and what counts its runs. */
function settledFiles(cwd: string): { readonly [name: string]: string } {
  const names = readdirSync(cwd, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(cwd, path.join(entry.parentPath, entry.name)))
    .filter((name) => !/^\.mlld\/|^\.cache\/|\.jsonl$|\.log$|\.failed$|^ledger|(^|\/)state\.json$/.test(name));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(cwd, name), 'utf8').replaceAll(cwd, '')]));
}

/** Returns the keys of calls that began after a result of theirs was on disk. Reads lines itself: a test must not trust what it tests. */
function startedAfterTheirResult(cwd: string): readonly string[] {
  const known = new Set<string>();
  const again: string[] = [];
  for (const file of journalFiles(cwd)) {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1); // the last may be torn
    for (const { type, key } of lines.map((line) => JSON.parse(line) as { type: string; key?: string })) {
      if (type === 'call.completed' && key !== undefined) known.add(key);
      if (type === 'call.started' && key !== undefined && known.has(key)) again.push(key);
    }
  }
  return again;
}

/** Chooses how many calls begin before each kill, from the first to two thirds of all. */
function moments(asks: number): readonly number[] {
  let state = SEED;
  return Array.from({ length: KILLS }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 1 + Math.floor((state / 2 ** 31) * Math.min(8, asks / 3));
  });
}
