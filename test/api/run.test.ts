/** Runs scripts and pipelines as a program in JavaScript does: with next to no options, with wrong ones, and without a project. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  MlldError,
  openFileStore,
  openMemoryStore,
  replayRun,
  run,
  runPipeline,
  watchPipeline,
  watchScript,
  type JournalEvent,
  type RunRequest,
  type RunRef,
} from '../../src/api/index.js';

let folder: string;
let shown: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-host-')));
  shown = '';
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const io = { stdout: (text: string): void => void (shown += text), stderr: (): void => undefined };
const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};
/** As JavaScript calls it. */
const anyRun = run as (request?: unknown) => Promise<unknown>;
const anyRunPipeline = runPipeline as (request?: unknown) => Promise<unknown>;
const errorOf = async (promise: Promise<unknown>): Promise<MlldError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MlldError);
  return error as MlldError;
};

describe('run', () => {
  it('needs nothing but the script', async () => {
    const file = write('tide.mld', 'show "high"\n');
    expect(await run({ script: { kind: 'file', path: file }, io })).toEqual({ status: 'completed' });
    expect(await run({ script: { kind: 'text', text: 'show "low"\n' }, io })).toEqual({ status: 'completed' });
    expect(shown).toBe('high\nlow\n');
  });

  it('takes paths from the working directory that is given', async () => {
    write('notes/quay.txt', 'two boats');
    write('tide.mld', 'show <notes/quay.txt>\n');
    await run({ script: { kind: 'file', path: 'tide.mld' }, workingDirectory: folder, io });
    await run({ script: { kind: 'text', text: 'show <notes/quay.txt>\n' }, workingDirectory: folder, io });
    await run({ script: { kind: 'text', text: 'show <quay.txt>\n', directory: path.join(folder, 'notes') }, io });
    expect(shown).toBe('two boats\n'.repeat(3));
  });

  it.each<[unknown, string]>([
    [undefined, 'options'],
    ['tide.mld', 'options'],
    [{}, 'script'],
    [{ script: undefined }, 'script'],
    [{ script: 'tide.mld' }, 'script'],
    [{ script: {} }, 'script.kind'],
    [{ script: { kind: 'url', path: 'x' } }, 'script.kind'],
    [{ script: { kind: 'file' } }, 'path'],
    [{ script: { kind: 'file', path: 7 } }, 'path'],
    [{ script: { kind: 'text' } }, 'text'],
    [{ script: { kind: 'text', text: '', name: '' } }, 'script.name'],
    [{ script: { kind: 'text', text: '', name: 'a.mld', directory: '.' } }, 'script.directory'],
    [{ script: { kind: 'text', text: '' }, payload: 'x' }, 'payload'],
    [{ script: { kind: 'text', text: '' }, argv: [1] }, 'argv'],
    [{ script: { kind: 'text', text: '' }, cache: true }, 'cache'],
    [{ script: { kind: 'text', text: '' }, cache: { chekpoint: true } }, 'chekpoint'],
    [{ script: { kind: 'text', text: '' }, cache: { resume: true } }, 'resume'],
    [{ script: { kind: 'text', text: '' }, cache: { changed: 'all' } }, 'changed'],
    [{ script: { kind: 'text', text: '' }, errorBehavior: 'stop' }, 'errorBehavior'],
    [{ script: { kind: 'text', text: '' }, timeoutMs: '5s' }, 'timeoutMs'],
    [{ script: { kind: 'text', text: '' }, signal: {} }, 'signal'],
    [{ script: { kind: 'text', text: '' }, io: { stdout: 'here' } }, 'stdout'],
    [{ script: { kind: 'text', text: '' }, project: {} }, 'project'],
    [{ script: { kind: 'text', text: '' }, checkpoint: true }, 'checkpoint'],
    [{ script: { kind: 'text', text: '' }, workingDirectory: '/no/such/folder' }, 'workingDirectory'],
  ])('refuses %j, and names what is wrong', async (request, named) => {
    const error = await errorOf(anyRun(request));
    expect(error.code).toBe('BAD_OPTION');
    expect(error.message).toContain(named);
    expect(error.hint).toBeTruthy();
  });

  it('says where an error is, with line and column', async () => {
    const file = write('tide.mld', 'var @a = 1\nshow @mising\n');
    const unknown = await run({ script: { kind: 'file', path: file }, io });
    expect(unknown).toMatchObject({ status: 'failed', error: { code: 'UNKNOWN_VARIABLE', location: { line: 2, column: 6 } } });
    const { error } = await run({ script: { kind: 'text', text: 'show "a"\n\n  var @ = 3\n' }, io });
    expect(error).toMatchObject({ location: { file: 'text', line: 3 } });
    expect((error as MlldError).location?.column).toBeGreaterThan(2);
  });
});

describe('a script given as text', () => {
  const PAID = 'exe llm @ask(q) = js { return q + "!" }\nshow @ask("ebb")\n';
  const request: RunRequest = { script: { kind: 'text', text: PAID, name: 'jobs/tide.mld' }, cache: { checkpoint: true }, io };

  it('is recorded under its name, reused, and replayed', async () => {
    const store = openMemoryStore();
    const given = { ...request, workingDirectory: folder, openStore: async () => store };
    const first = await run(given);
    expect(first).toMatchObject({ status: 'completed', journal: { workflow: 'jobs/tide.mld' } });
    await run(given);
    const runs = await store.runs((first.journal as RunRef).workflow);
    expect(runs).toHaveLength(2);
    const types: string[] = [];
    await store.scan((runs.at(-1) as (typeof runs)[number]).ref, ({ type }) => void types.push(type));
    expect(types).toContain('call.reused');
    expect(types).not.toContain('call.completed');
    const replayed = await replayRun({ store, ref: first.journal as RunRef, root: folder, divergences: 'first', sinks: io });
    expect(replayed).toMatchObject({ verdict: 'same', status: 'completed' });
    expect(shown).toBe('ebb!\n'.repeat(3));
  });

  it('takes paths from the folder of its name', async () => {
    write('mlld-config.json', '{}');
    write('jobs/quay.txt', 'two boats');
    await run({ script: { kind: 'text', text: 'show <quay.txt>\n', name: 'jobs/tide.mld' }, workingDirectory: folder, io });
    expect(shown).toBe('two boats\n');
  });

  it.each([{ checkpoint: true }, { resume: '' }, { fresh: true }, { forks: ['other'] }])(
    'is not run without a name when %j asks for a record',
    async (cache) => {
      const report = await run({ script: { kind: 'text', text: PAID }, workingDirectory: folder, cache, io });
      expect(report).toMatchObject({ status: 'failed', error: { code: 'SCRIPT_UNNAMED' } });
      expect((report.error as MlldError).hint).toContain('name');
      expect(shown).toBe('');
    },
  );
});

describe('the events of a run', () => {
  const script = { kind: 'text', text: 'show "ebb"\n', name: 'tide.mld' } as const;

  it('come to a loop, in order and to the last', async () => {
    const { events, report } = watchScript({ script, workingDirectory: folder, cache: { record: true }, io });
    const seen: JournalEvent[] = [];
    for await (const event of events) seen.push(event);
    expect((await report).status).toBe('completed');
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index));
    expect(seen.at(-1)?.type).toBe('run.finished');
  });

  it('come to a callback', async () => {
    const seen: string[] = [];
    await run({ script, workingDirectory: folder, cache: { record: true }, io, onEvent: ({ type }) => void seen.push(type) });
    expect([seen[0], seen.at(-1)]).toEqual(['run.started', 'run.finished']);
  });

  it('are those of the record: without one the request is refused', async () => {
    const { events, report } = watchScript({ script, workingDirectory: folder, io });
    await expect(report).rejects.toMatchObject({ code: 'BAD_OPTION', hint: expect.stringContaining('record') as string });
    expect(await events.next()).toMatchObject({ done: true });
  });
});

describe('runPipeline', () => {
  const TWO = 'digraph two { start [shape=Mdiamond]; done [shape=Msquare]; start -> done }\n';

  it('needs nothing but the file', async () => {
    const file = write('two.dot', TWO);
    expect(await runPipeline({ file, io })).toMatchObject({ status: 'completed', pipeline: 'two' });
    const { events, report } = watchPipeline({ file: 'two.dot', workingDirectory: folder, io });
    const seen: string[] = [];
    for await (const { type } of events) seen.push(type);
    expect(seen).toContain('run.finished');
    expect((await report).status).toBe('completed');
  });

  it.each<[unknown, string]>([
    [undefined, 'options'],
    [{}, 'file'],
    [{ file: 3 }, 'file'],
    [{ file: 'two.dot', people: 'everyone' }, 'people'],
    [{ file: 'two.dot', set: ['a=b'] }, 'set'],
    [{ file: 'two.dot', io: { readLine: 1 } }, 'readLine'],
    [{ file: 'two.dot', workingDirectory: '/no/such/folder' }, 'workingDirectory'],
  ])('refuses %j, and names what is wrong', async (request, named) => {
    const error = await errorOf(anyRunPipeline(request));
    expect(error.code).toBe('BAD_OPTION');
    expect(error.message).toContain(named);
  });

  it('says why a pipeline is not run, with line and column', async () => {
    const file = write('bad.dot', 'digraph bad {\n  start [shape=Mdiamond]\n  start -> nowhere [condition="a=="]\n}\n');
    const report = await runPipeline({ file, io });
    expect(report).toMatchObject({ status: 'failed', error: { code: 'PIPELINE_INVALID' } });
    expect((report.error as MlldError).location?.line).toBeGreaterThan(0);
    const broken = await runPipeline({ file: write('broken.dot', 'digraph two {\n  a ->\n}\n'), io });
    expect(broken).toMatchObject({ status: 'failed', error: { code: 'PIPELINE_INVALID', location: { line: 3 } } });
    expect(await runPipeline({ file: path.join(folder, 'none.dot'), io })).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } });
  });
});

describe('openFileStore', () => {
  it('opens a project', async () => {
    write('mlld-config.json', '{}');
    expect(await openFileStore(folder).workflows()).toEqual([]);
  });

  it.each([[undefined], [''], [7]])('refuses %j', (root) => {
    expect(() => openFileStore(root as string)).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }) as Error);
  });

  it('refuses a folder without a project, and one that is not there', () => {
    for (const root of [folder, path.join(folder, 'none')]) {
      expect(() => openFileStore(root)).toThrow(
        expect.objectContaining({ code: 'NO_PROJECT', hint: expect.any(String) as string }) as Error,
      );
    }
  });
});
