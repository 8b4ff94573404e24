/** `.mx` of a reused result says the same as that of a fresh one. checkpoint-resume.md 5.3. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { EventOf } from '../../../journal/event.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const FILES = {
  'guide.md': '---\ntitle: Seals\nrank: 2\n---\n# Harbour\nSleepy.\n\n# Grey\nLoud.\n',
  'ships/gull.json': '{"name": "Gull",   "tons": 3}\n',
  'ships/tern.json': '{"name": "Tern", "tons": 40}\n',
  'crew.json': '{cook: "Rosa", mate: "Ole"} // two\n',
  'one.jsonl': '{"kg": 12}\n',
  'hauls.jsonl': '{"kg": 12}\n{"kg": 7}\n',
};

const OF_A_FILE = '@r.mx.filename|@r.mx.relative|@r.mx.absolute|@r.mx.dirname|@r.mx.type|@r.mx.source|@r.mx.tokens|@r.mx.sources|@r';

/** A function, and what is shown of its result. */
const RESULTS: readonly (readonly [title: string, script: string, shown: string])[] = [
  ['a text file', 'exe llm @f(q) = <guide.md>', `@r.mx.fm.title @r.mx.fm.rank ${OF_A_FILE}`],
  ['a section of one', 'exe llm @f(q) = <guide.md # Grey>', `@r.mx.fm.title ${OF_A_FILE}`],
  ['headings', 'exe llm @f(q) = <guide.md # ??>', `@r.mx.filename @r.join("+")`],
  ['a file under a template', 'exe llm @f(q) = <guide.md # Grey as "# Other">', OF_A_FILE],
  ['a JSON file, with its own spacing', 'exe llm @f(q) = <ships/gull.json>', `@r.name @r.tons ${OF_A_FILE}`],
  ['a JSON5 file, with its text', 'exe llm @f(q) = <crew.json>', `@r.cook @r.mx.text ${OF_A_FILE}`],
  ['records, with their text', 'exe llm @f(q) = <hauls.jsonl>', `@r[0].kg @r.mx.text ${OF_A_FILE}`],
  ['a single record, whose text is JSON of something else', 'exe llm @f(q) = <one.jsonl>', `@r[0].kg @r.length @r.mx.text ${OF_A_FILE}`],
  [
    'a list of files',
    'exe llm @f(q) = <ships/*.json>',
    '@r[0].mx.filename @r[1].mx.relative @r[1].tons @r[0].mx.text @r[0].mx.taint @r.length',
  ],
  [
    'files inside of other data',
    'exe llm @f(q) = [\n  let @all = <ships/*.json>\n  => { all: @all, deep: [1, [@all]] }\n]',
    '@r.all[1].mx.filename @r.deep[1][0][0].mx.relative @r.deep[1][0][1].tons @r.deep[0]',
  ],
  ['a large file', 'exe llm @f(q) = <large.txt>', '@r.mx.filename @r.mx.length'],
  ['a list of large files', 'exe llm @f(q) = <*.txt>', '@r[0].mx.filename @r[0].mx.length'],
  ['the function that it forwards to', 'exe @load(q) = <guide.md>\nexe llm @f(q) = @load(@q)', OF_A_FILE],
  [
    'a command',
    'exe llm @f(q) = sh { echo "A:$q"; echo "hm" >&2 }',
    '@r.mx.source|@r.mx.command|@r.mx.exitCode|@r.mx.stderr|@r.mx.duration|@r',
  ],
  ['a command line', 'exe llm @f(q) = cmd { echo "A:@q" }', '@r.mx.source|@r.mx.command|@r.mx.exitCode|@r.mx.stderr|@r.mx.sources|@r'],
  [
    'a long command line',
    'exe @long(n) = js { return "lorem ".repeat(n) }\nvar @q = @long(400)\nexe llm @f(q) = cmd { echo "A:@q" }',
    '@r.mx.command|@r.mx.command.length|@r.length',
  ],
  ['a command with a large result', 'exe llm @f(q) = sh { seq 2000 }', '@r.mx.exitCode @r.mx.source @r.mx.duration @r.length'],
  ['data that a command printed', `exe llm @f(q) = sh { echo '{"n":  1}' }`, '@r.n @r.mx.exitCode @r.mx.text @r'],
  [
    'a large result that a word of control carries',
    'exe @big(q) = sh { seq 3000 }\nexe llm @g(q) = when [ * => done @big(@q) ]\nexe @f(q) = @q | while(3) @g',
    '@r.mx.exitCode @r.mx.length @r.mx.source @r',
  ],
  [
    'large data that a word of control carries',
    'exe @big(q) = js { return Array.from({ length: 900 }, (_, n) => ({ n })) }\nexe llm @g(q) = when [ * => done @big(@q) ]\nexe @f(q) = @q | while(3) @g',
    '@r.length @r[7].n @r.mx.labels',
  ],
  [
    'what a word of control carries',
    'exe llm @g(q) = when [ * => done <guide.md> ]\nexe @f(q) = @q | while(3) @g',
    '@r.mx.filename @r.mx.fm.title',
  ],
];

async function twice(
  script: string,
  files: { readonly [name: string]: string } = {},
): Promise<{ cwd: string; fresh: string; reused: string }> {
  const large = Object.fromEntries([1, 2].map((n) => [n === 1 ? 'large.txt' : 'larger.txt', 'lorem ipsum '.repeat(500 * n)]));
  const cwd = await projectFolder({ ...FILES, ...large, ...files, 'job.mld': script });
  const fresh = await callCli(['job.mld', '--checkpoint'], { cwd });
  const reused = await callCli(['job.mld', '--checkpoint'], { cwd });
  expect([fresh.status, reused.status, fresh.stderr.includes('rror')]).toEqual([0, 0, false]);
  expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(/: \d calls?, (\d) reused, 0 executed/);
  return { cwd, fresh: fresh.stdout, reused: reused.stdout };
}

async function completedIn(cwd: string): Promise<EventOf<'call.completed'>[]> {
  const store = openFileStore(cwd);
  const completed: EventOf<'call.completed'>[] = [];
  for (const workflow of await store.workflows())
    for (const { ref } of await store.runs(workflow))
      await store.scan(ref, (event) => void (event.type === 'call.completed' && completed.push(event)));
  return completed;
}

describe('the metadata of a reused result', () => {
  it.each(RESULTS)('of %s', async (_title, script, shown) => {
    const q = script.includes('var @q') ? '' : 'var @q = "x"\n';
    const { cwd, fresh, reused } = await twice(`${script}\n${q}var @r = @f(@q)\nshow \`${shown}\`\n`);
    expect(fresh).not.toContain('null');
    expect(reused).toBe(fresh);
    expect(await callCli(['journal', 'replay', 'job'], { cwd })).toMatchObject({ stdout: fresh, status: 0 });
    expect(await callCli(['journal', 'replay', 'job@2'], { cwd })).toMatchObject({ stdout: fresh, status: 0 });
    expect((await callCli(['journal', 'verify', 'job'], { cwd })).status).toBe(0);
  });

  it('counts where it is written, and for code', async () => {
    const { cwd, fresh, reused } = await twice(`exe llm @f(q) = '{"a": [1, 2]}' | @parse
exe llm @g(q) = [
  let @file = <guide.md>
  => @file.keep
]
exe @name(file) = js { return file.mx.filename }
var @r = @f("x")
var @file = @g("x")
output @r to "out.json"
show <out.json>.mx.text
show @name(@file)
`);
    expect(fresh).toContain('guide.md\n');
    expect(reused).toBe(fresh);
    expect(await fs.readFile(path.join(cwd, 'out.json'), 'utf8')).toBe('{"a":[1,2]}');
  });

  it('has no more on a large result in a list than on a small one, recorded or not', async () => {
    const script = `exe llm @ask(n) = sh { echo '{"n":  1}'; seq $n | sed 's/.*/ /' }
exe llm @f(q) = for @n in [1, 3000] => @ask(@n) | @parse
exe llm @g(q) = for @n in [1, 3000] => @ask(@n)
var @r = @f("x")
var @s = @g("x")
show \`@r[0].mx.exitCode @r[1].mx.exitCode @s[0].mx.source @s[1].mx.source @s[1].mx.labels @s[0].mx.length @s[1].mx.length\`
show \`@r[0].n @r[0] @r[1]\`
`;
    const { cwd, fresh, reused } = await twice(script);
    expect(fresh).toBe('null null null null ["llm"] 7 7\n1 {"n":1} {"n":1}\n');
    expect(reused).toBe(fresh);
    expect((await callCli(['job.mld'], { cwd })).stdout).toBe(fresh);
    expect((await callCli(['journal', 'replay', 'job@2'], { cwd })).stdout).toBe(fresh);
  });

  it('follows a project that was moved', async () => {
    const script = 'exe llm @f(q) = <ships/gull.json>\nvar @r = @f("x")\nshow @r.mx.absolute\n';
    const { cwd } = await twice(script);
    const moved = `${cwd}-moved`;
    await fs.rename(cwd, moved);
    expect((await callCli(['job.mld', '--resume'], { cwd: moved })).stdout).toBe(`${path.join(moved, 'ships/gull.json')}\n`);
  });

  it('of more than 64 KiB is a blob of its own: it is verified, kept as long as its result, bundled with it, and redacted', async () => {
    const front = `---\ntitle: Seals\npin: tide-4711\nlong: ${'z'.repeat(70_000)}\n---\n`;
    const script = 'exe llm @f(q) = <long.md # Grey>\nvar @r = @f("x")\nshow `@r.mx.fm.pin @r.mx.fm.long.length @r.mx.filename`\n';
    const { cwd, fresh, reused } = await twice(script, { 'long.md': `${front}# Grey\nLoud.\n` });
    expect([fresh, reused]).toEqual(['tide-4711 70000 long.md\n', 'tide-4711 70000 long.md\n']);
    const mlld = async (at: string, ...argv: string[]) => callCli(argv, { cwd: at });
    const texts = async (): Promise<string[]> => {
      const files = globSync('.mlld/journal/**/*', { cwd, dot: true, absolute: true });
      return Promise.all(files.map((file) => fs.readFile(file, 'latin1')));
    };
    await mlld(cwd, 'journal', 'gc', '--keep', '1');
    expect((await mlld(cwd, 'job.mld', '--checkpoint')).stdout).toBe(fresh);
    await mlld(cwd, 'journal', 'bundle', 'job', '-o', 'run.tgz');
    const there = await projectFolder({ 'job.mld': script });
    await fs.copyFile(path.join(cwd, 'run.tgz'), path.join(there, 'run.tgz'));
    expect((await mlld(there, 'journal', 'unbundle', 'run.tgz')).status).toBe(0);
    expect((await mlld(there, 'job.mld', '--resume')).stdout).toBe(fresh); // there is no long.md
    expect((await mlld(there, 'journal', 'replay', 'job@2')).stdout).toBe(fresh);

    const { blob } = (await completedIn(there)).map(({ notes }) => notes)[0] as { blob: string };
    const stored = globSync(`.mlld/journal/blobs/*/${blob.slice('sha256:'.length)}*`, { cwd: there, dot: true, absolute: true });
    expect(stored).toHaveLength(1);
    await fs.rm(stored[0] as string);
    expect((await mlld(there, 'journal', 'verify', 'job@3')).stdout).toContain(blob);

    for (const run of ['job@3', 'job@2', 'job']) await mlld(cwd, 'journal', 'redact', run, '--match', 'tide-4711');
    expect((await texts()).join('\n')).not.toContain('tide-4711');
    expect((await texts()).join('\n')).not.toContain('zzzz');
    expect((await mlld(cwd, 'journal', 'verify', 'job@3')).status).toBe(0);
    expect((await mlld(cwd, 'job.mld', '--checkpoint')).stdout).toBe('null null null\n');
  });

  it('is sealed with a result that may not be read, and also where only a guard made it readable', async () => {
    const { cwd, fresh, reused } = await twice(`var secret @pin = "4411-harbour"
exe llm @f(q) = cmd { echo "A:@q" }
exe llm @g(q) = cmd { sh -c "true @q; echo fine" }
guard privileged after @g = when [ * => allow with { removeLabels: ["secret"] } ]
var @a = @f(@pin)
var @b = @g(@pin)
show \`@a.mx.command.length @b.mx.command.length @a.mx.exitCode @b.mx.exitCode\`
`);
    expect(reused).toBe(fresh);
    const completed = await completedIn(cwd);
    expect(completed.map(({ result, notes }) => ['sealed' in result, notes && 'sealed' in notes])).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(JSON.stringify(completed)).not.toContain('harbour');
  });
});
