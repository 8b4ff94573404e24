/** The types of the library refuse what is no JSON, where it is written. workflows-js.md 15 and 17. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { STRICT, TSC } from '../support/packed-package.js';
import { PROJECT } from '../support/source-files.js';

const HEAD = `import { run, workflow, type Context, type Json } from '${path.join(PROJECT, 'dist/types/src/api/index.js')}';
declare const ctx: Context;
interface Berth { readonly name: string; depth?: number; notes: Note[]; data: Json }
interface Note { text: string; about: Berth | null; at?: string | undefined }
interface Boat { name: string; sail(): void }
declare const berth: Berth, boat: Boat, either: Berth | string, listed: readonly Berth[];
`;

/** Each line stands alone; those that begin with `no` are refused. */
const LINES: readonly (readonly ['ok' | 'no', string])[] = [
  [
    'ok',
    "const text: Promise<string> = ctx.llm('rank', ['x', 1, { at: [true, null] }], async (word, number, { at }) => word + number + at.length);",
  ],
  ['ok', "const some: Promise<number> = ctx.llm('rank', ['x', 1], async () => 1);"],
  ['ok', "void ctx.step('post', [{ a: 1 }], async () => {});"],
  ['ok', "const listed: Promise<number[]> = ctx.parallel(['a'] as const, async (item, index) => item.length + index);"],
  [
    'ok',
    "void workflow('job', async (c, input: { berths: string[] }) => c.now() + input.berths.length).run({ berths: [] }, { resume: true });",
  ],
  ['ok', "void workflow('job', async (c) => c.checkpoint('a', { resume: 'never' })).run(null);"],
  ['ok', "void ctx.agent('look', { effort: 'low', isolation: 'worktree', retries: 2 });"],
  ['ok', "const kept: Promise<Berth> = ctx.llm('rank', [berth, 1], async (first, depth) => ({ ...first, depth }));"],
  ['ok', "const moved: Promise<Note[]> = ctx.step('move', [berth, listed, either], () => berth.notes);"],
  ['ok', "const found: Promise<Berth | undefined> = ctx.step('find', [], () => listed.find(({ name }) => name === 'quay'));"],
  ['ok', "const same: Promise<readonly Berth[]> = ctx.llm('same', [listed], async (given) => given);"],
  ['ok', "const mixed: Promise<1 | { at: Berth }> = ctx.llm('mix', [], async () => (listed.length > 1 ? 1 : { at: berth }));"],
  ['ok', "void (async <T extends Json>(given: T): Promise<T> => ctx.llm('any', [given], async () => given))(1);"],
  [
    'ok',
    "void workflow('job', async (_c, input: Berth) => ({ input, notes: input.notes })).run(berth).then(({ result }) => result?.input.depth);",
  ],
  ['ok', "void workflow<Berth, void>('job', async (c, { name }) => c.log(name)).run(berth);"],
  ['ok', "void workflow('job', async (c) => c.now()).run(null).then(({ error }) => error?.message.length);"],
  [
    'ok',
    "void run({ script: { kind: 'text', text: '' } }).then(({ error }) => error && [error.code.length, error.location?.line.toFixed()]);",
  ],
  ['no', "void ctx.llm('rank', [boat], async () => 1);"],
  ['no', "void ctx.llm('rank', [{ berth, boat }], async () => 1);"],
  ['no', "void ctx.llm('rank', [berth], async () => ({ at: new Date() }));"],
  ['no', "void ctx.llm('rank', [berth], async (first: Note) => first);"],
  ['no', "void ctx.step('move', [berth, 1n], async () => {});"],
  ['no', "void ctx.step('move', [berth], async () => boat);"],
  ['no', "void workflow('job', async (_c, input: Boat) => input.name);"],
  ['no', "void workflow('job', async (_c, input: Berth) => input.name).run({ name: 'quay' });"],
  ['ok', "void ctx.agent('look', { schema: { type: 'object' } as { [name: string]: unknown } });"],
  ['ok', "const seen: Promise<Berth[]> = Promise.all(['a', 'b'].map((each) => ctx.agent<Berth>(each, { schema: {} })));"],
  ['ok', "const any: Promise<Json> = ctx.agent('look');"],
  ['no', "const unsaid: Promise<Berth> = ctx.agent('look');"],
  ['no', "void ctx.agent('look', { schema: 'object' });"],
  ['no', "void ctx.agent('look', { effort: 'lots' });"],
  ['no', "void ctx.llm('rank', [() => 1], async () => 1);"],
  ['no', "void ctx.llm('rank', [{ by() {} }], async () => 1);"],
  ['no', "void ctx.llm('rank', [new Map()], async () => 1);"],
  ['no', "void ctx.llm('rank', [new Date()], async () => 1);"],
  ['no', "void ctx.llm('rank', [1n], async () => 1);"],
  ['no', "void ctx.llm('rank', [undefined], async () => 1);"],
  ['no', "void ctx.llm('rank', [], async () => () => 1);"],
  ['no', "void ctx.llm('rank', ['x'], async (word: number) => word);"],
  ['no', "void ctx.step('post', [Symbol('x')], async () => {});"],
  ['no', "void ctx.step('post', [], async () => new Set());"],
  ['no', "void ctx.step('post', [], async () => {}, { retry: 1 });"],
  ['no', "void ctx.checkpoint('a', { resume: 'sometimes' });"],
  ['no', "void workflow('job', async (_c, input: { at: Date }) => input.at.getTime());"],
  ['no', "void workflow('job', async () => new Map());"],
  ['no', "void workflow('job', async (_c, input: { berths: string[] }) => input.berths).run({ berths: [1] });"],
  ['no', "void workflow('job', async () => 1).run(null, { resume: 1 });"],
];

it('refuses functions, instances and other data that is no JSON', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mlld-types-'));
  try {
    symlinkSync(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(folder, 'lines.ts'), HEAD + LINES.map(([, line]) => `{ ${line} }\n`).join(''));
    const { stdout } = await promisify(execFile)(process.execPath, [TSC, ...STRICT, '--noEmit', '--pretty', 'false', 'lines.ts'], {
      cwd: folder,
    }).catch((error: unknown) => error as { readonly stdout: string });
    const offset = HEAD.split('\n').length;
    const refused = new Set([...stdout.matchAll(/^lines\.ts\((\d+),/gm)].map(([, line]) => Number(line) - offset));
    expect(stdout.replaceAll(/^(?:lines\.ts|\s).*\n?/gm, '')).toBe('');
    expect(LINES.map(([, line], index) => [refused.has(index) ? 'no' : 'ok', line])).toEqual(LINES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
