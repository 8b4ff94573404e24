/** What `docs/looking-back.md` says of `--json`, held against what the commands print. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';
import { recordCrash, recordRun } from '../../support/recorded-project.js';
import { ask } from '../../support/written-runs.js';

const TEXT = readFileSync(new URL('../../../docs/looking-back.md', import.meta.url), 'utf8');
const ITEMS = [...TEXT.slice(TEXT.indexOf('## As JSON')).matchAll(/^- `([^`]+)`: ([^;]*?)(;[^]*?)?(?=\n- |\n\n)/gm)];
const ROWS = ITEMS.map(([, command = '', always = '', rest = '']) => ({ command, always: namesIn(always), sometimes: namesIn(rest) }));
const ARGUMENTS: { readonly [command: string]: readonly string[] } = {
  list: [],
  stats: [],
  gc: ['--dry-run'],
  diff: ['job@2', 'job'],
  'diff --fork-point': ['job@2', 'job'],
  redact: ['latest', '--match', 'zzz'],
};

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
}

let cwd: string;
beforeAll(async () => {
  cwd = await projectFolder();
  await recordRun(cwd, 1, ask('main/ask#0', 'ebb'));
  await recordCrash(cwd, 2, ask('main/ask#0', 'ebb'), ask('main/ask#1', 'flow'));
});

it('has an item for each command that reports', () => {
  expect(ROWS.map(({ command }) => command)).toHaveLength(11);
});

it.each(ROWS)('$command prints what its item says', async ({ command, always, sometimes }) => {
  const { stdout } = await runCli(['journal', ...command.split(' '), ...(ARGUMENTS[command] ?? ['latest']), '--json'], { cwd });
  const report = JSON.parse(stdout) as object | readonly object[];
  const names = Object.keys((Array.isArray(report) ? report[0] : report) as object);
  expect(names).toEqual(expect.arrayContaining([...always]));
  expect(names.filter((name) => !always.includes(name) && !sometimes.includes(name))).toEqual([]);
});
