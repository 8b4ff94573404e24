/** Each kind of public report of lost work, told as a test: nothing that was answered is asked for again. workflows-js.md 1. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, vi } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
/** Logs a prompt before it answers, hangs at that in the file `hang`, and refuses those in `refuse` with the status in `status`. */
const AGENT = `prompt=$(cat)
if [ -f hang ] && [ "$prompt" = "$(cat hang)" ]; then exec sleep 600; fi
if [ -f refuse ] && grep -qxF "$prompt" refuse; then exit "$(cat status)"; fi
printf '%s\\n' "$prompt" >> answered.log
echo "done: $prompt"
`;
const ITEMS = ['a', 'b', 'c', 'd', 'e', 'f'];
const script = (items: readonly string[]): string => `export const meta = { name: 'survey', description: 'x' }
const found = await parallel(${JSON.stringify(items)}.map((item) => () => agent('look ' + item)))
return await agent('sum up ' + found.length)
`;
const ALL = [...ITEMS.map((item) => `look ${item}`), 'sum up 6'];

interface Work {
  root: string;
  /** Runs the script by its name in a folder, and returns the prompts that were answered anew, in the order of the alphabet. */
  readonly run: (words?: readonly string[], folder?: string) => Promise<readonly string[]>;
  readonly write: (file: string, text: string) => void;
  readonly remove: (file: string) => void;
}

async function work(): Promise<Work> {
  const made: Work = {
    root: await projectFolder({ 'mlld-config.json': '{"agent":{"backend":"cmd:sh agent.sh"}}', 'agent.sh': AGENT }),
    async run(words = ['--resume'], folder = '') {
      const before = answered(made.root).length;
      await callCli(['run', 'survey', ...words], { cwd: join(made.root, folder) });
      return answered(made.root).slice(before).sort();
    },
    write: (file, text) => writeFileSync(join(made.root, file), text),
    remove: (file) => rmSync(join(made.root, file)),
  };
  mkdirSync(join(made.root, '.claude', 'workflows'), { recursive: true });
  made.write('.claude/workflows/survey.js', script(ITEMS));
  return made;
}

function answered(root: string): readonly string[] {
  const file = join(root, 'answered.log');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** Counts the results that are on disk. */
function recorded(root: string): number {
  const journal = join(root, '.mlld', 'journal');
  const files = existsSync(journal) ? readdirSync(journal, { recursive: true, encoding: 'utf8' }) : [];
  const texts = files.filter((name) => name.endsWith('.ndjson')).map((name) => readFileSync(join(journal, name), 'utf8'));
  return texts.join('').split('"type":"call.completed"').length - 1;
}

/** Kills a run in which one call hangs, as soon as so many results are on disk. */
async function forceStop({ root, write, remove }: Work, hanging: string, results: number, words: readonly string[] = []): Promise<void> {
  write('hang', hanging);
  const child = spawn(process.execPath, [CLI, 'run', 'survey', '--parallel', '6', ...words], { cwd: root, stdio: 'ignore' });
  const closed = new Promise((resolve) => child.on('close', resolve));
  try {
    await vi.waitUntil(() => recorded(root) >= results, { timeout: 60_000, interval: 20 });
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
  remove('hang');
}

it.each<readonly [string, (at: Work) => Promise<void>, readonly string[]]>([
  [
    'the order of parallel starts',
    async ({ run, write }) => {
      await run([]);
      write('.claude/workflows/survey.js', script(ITEMS.toReversed()));
    },
    [],
  ],
  [
    'a failed call among many',
    async ({ run, write, remove }) => {
      write('refuse', 'look c\n');
      write('status', '1');
      await run([]);
      remove('refuse');
    },
    ['look c'],
  ],
  [
    'an edited script',
    async ({ run, write }) => {
      await run([]);
      write('.claude/workflows/survey.js', `${script(['new', ...ITEMS])}// edited\n`);
    },
    ['look new', 'sum up 7'],
  ],
  [
    'another session',
    async ({ run }) => {
      await run([]);
      expect(await run(['--resume'], '.claude')).toEqual([]);
    },
    [],
  ],
  [
    'a moved folder',
    async (at) => {
      await at.run([]);
      renameSync(at.root, `${at.root} moved`);
      at.root = `${at.root} moved`;
    },
    [],
  ],
  [
    'a quota in the middle',
    async ({ run, write, remove }) => {
      write('refuse', 'look d\n');
      write('status', '77');
      expect(await run(['--parallel', '1'])).toEqual(['look a', 'look b', 'look c']);
      remove('refuse');
    },
    ['look d', 'look e', 'look f', 'sum up 6'],
  ],
  ['a force stop', (at) => forceStop(at, 'look b', 5), ['look b', 'sum up 6']],
  [
    'two force stops and a compacted conversation, of which only the name of the script is left',
    async (at) => {
      await forceStop(at, 'look e', 5);
      await forceStop(at, 'sum up 6', 6, ['--resume']);
    },
    ['sum up 6'],
  ],
])('pays for nothing twice: %s', { timeout: 240_000 }, async (_what, trouble, missing) => {
  const at = await work();
  await trouble(at);
  expect(await at.run()).toEqual(missing);
  expect(await at.run()).toEqual([]);
  const all = answered(at.root);
  expect(new Set(all).size).toBe(all.length);
  expect(all).toEqual(expect.arrayContaining(ALL.slice(0, -1)));
  rmSync(at.root, { recursive: true, force: true, maxRetries: 5 }); // it may have been moved
});

it.each([
  [
    'a program of the library',
    'survey.mjs',
    `import { workflow } from ${JSON.stringify(pathToFileURL(join(CLI, '..', 'index.js')).href)};
export default workflow('berths', (ctx) => ctx.agent('look a'));\n`,
  ],
  [
    'a script that has another name than its file',
    'survey.js',
    `export const meta = { name: 'berths', description: 'x' }\nthrow new Error(await agent('look a'))\n`,
  ],
])('says a command that continues %s', async (_what, file, text) => {
  const { root, write } = await work();
  write(file, text);
  write('refuse', 'look a\n');
  write('status', '1');
  expect(await callCli(['run', file], { cwd: root })).toMatchObject({ status: 1 });
  const shown = (await callCli(['journal', 'postmortem'], { cwd: root })).stdout;
  const [, said = ''] = /^ {2}mlld (.*?--plan) .*# print first/m.exec(shown) ?? [];
  expect(said, shown).toMatch(new RegExp(`^run ${file} --resume`));
  expect(await callCli(said.trim().split(' '), { cwd: root })).toMatchObject({ status: 0, stderr: '' });
});
