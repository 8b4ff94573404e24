/** RESTORE-1 to RESTORE-3, with a store in memory and files on the disk. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WrittenFile } from '../../../journal/facts/call-event.js';
import { seqOf, type OpPath, type RunId } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { DEFAULT_CALL_SETTINGS } from '../../../src/calls/options.js';
import type { KeepRules, ReusedCall } from '../../../src/runtime/calls/call-files.js';
import { RunCallFiles, type CallFileSources } from '../../../src/session/ports/files/call-files.js';
import { changedFilesWarnings } from '../../../src/session/ports/files/changed-files.js';

const RULES: KeepRules = { except: new Set(), isSecret: false, hidesText: undefined };
const usual = DEFAULT_CALL_SETTINGS.files;

let root: string;
let warnings: string[];
let store: ReturnType<typeof openMemoryStore>;

beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-call-files-')));
  warnings = [];
  store = openMemoryStore();
});

function files(sources: Partial<CallFileSources> = {}): RunCallFiles {
  const warn = (message: string): void => void warnings.push(message);
  return new RunCallFiles({ store, root, settings: usual, isRecorded: true, warn, onTrouble: ({ message }) => warn(message), ...sources });
}

function write(name: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
}

const read = (name: string): string => fs.readFileSync(path.join(root, name), 'utf8');
const remove = (name: string): void => fs.rmSync(path.join(root, name), { recursive: true, force: true });
const call = (seq: number, fn = 'draw', run = 'r1'): ReusedCall => ({
  fn,
  op: `main/${fn}#${seq}` as OpPath,
  from: { run: run as RunId, seq: seqOf(seq) },
});

/** Keeps what `act` writes, as a call that names these files. */
async function kept(
  names: readonly string[],
  act: () => void,
  rules: Partial<KeepRules> = {},
  port = files(),
): Promise<readonly WrittenFile[]> {
  const before = await port.look(names);
  act();
  return port.keep(before, { ...RULES, ...rules });
}

async function reuse(port: RunCallFiles, recorded: readonly WrittenFile[], by: ReusedCall): Promise<unknown> {
  const found = await port.find(recorded);
  return found.gone.length > 0 ? found.gone : (await port.restore(recorded, found, by)).map(({ did }) => did);
}

describe('the files of a call that has ended', () => {
  it('are those that appeared or were written, also with the same content', async () => {
    for (const name of ['same', 'rewritten', 'changed', 'removed', 'touched']) write(name, 'ebb');
    const found = await kept(['same', 'rewritten', 'changed', 'removed', 'new/deep', 'none', 'touched'], () => {
      write('changed', 'low');
      fs.writeFileSync(path.join(root, 'rewritten.tmp'), 'ebb');
      fs.renameSync(path.join(root, 'rewritten.tmp'), path.join(root, 'rewritten'));
      remove('removed');
      write('new/deep', 'flow');
    });
    expect(found.map(({ path: name, bytes, mode, blob }) => [name, bytes, mode, blob !== undefined])).toEqual([
      ['rewritten', 3, 0o644, true],
      ['changed', 3, 0o644, true],
      ['new/deep', 4, 0o644, true],
    ]);
    expect(String(await store.getBlob(found[2]?.blob as NonNullable<WrittenFile['blob']>))).toBe('flow');
  });

  it('are found when one is written twice at the same tick of the clock', async () => {
    for (let round = 0; round < 30; round++) {
      write('a', 'ebb');
      expect((await kept(['a'], () => write('a', 'low'))).length, `round ${round}`).toBe(1);
    }
  });

  it('are neither folders nor links, nor reached through a link out of the project', async () => {
    const outside = fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-outside-'));
    fs.symlinkSync(outside, path.join(root, 'away'));
    fs.mkdirSync(path.join(root, 'within'));
    fs.symlinkSync('within', path.join(root, 'alias'));
    const found = await kept(['folder', 'link', 'away/x', 'alias/y'], () => {
      fs.mkdirSync(path.join(root, 'folder'));
      fs.symlinkSync('elsewhere', path.join(root, 'link'));
      fs.writeFileSync(path.join(outside, 'x'), 'out');
      fs.writeFileSync(path.join(root, 'within', 'y'), 'in');
    });
    expect(found.map(({ path: name }) => name)).toEqual(['alias/y']);
  });

  it('are listed without content beyond the limits', async () => {
    const settings = { keep: true, count: 2, eachBytes: 4, totalBytes: 7 };
    const names = ['five', 'four', 'fore', 'two', 'one'];
    const found = await kept(
      names,
      () => {
        write('five', '12345');
        write('four', '1234');
        write('fore', '1234');
        write('two', '12');
        write('one', '1');
      },
      {},
      files({ settings }),
    );
    expect(found.map(({ path: name, bytes, blob, reason }) => [name, bytes, blob === undefined ? reason : 'kept'])).toEqual([
      ['five', 5, 'too-large'],
      ['four', 4, 'kept'],
      ['fore', 4, 'too-many'],
      ['two', 2, 'kept'],
      ['one', 1, 'too-many'],
    ]);
  });

  it('are 20 at most, and those that follow are listed', async () => {
    const names = Array.from({ length: 23 }, (_, at) => `f${at}`);
    const found = await kept(names, () => names.forEach((name) => write(name, name)));
    expect([found.filter(({ blob }) => blob).length, found.filter(({ reason }) => reason === 'too-many').length]).toEqual([20, 3]);
  });

  it('are listed without content where a secret is in the call or in the file, and not at all where it is in the path', async () => {
    const act = (): void => {
      write('a', 'the tide');
      write('b', 'the swordfish');
      write('swordfish.md', 'x');
    };
    const hidesText = (text: string): boolean => text.includes('swordfish');
    const found = await kept(['a', 'b', 'swordfish.md'], act, { hidesText });
    expect(found.map(({ path: name, reason }) => [name, reason])).toEqual([
      ['a', undefined],
      ['b', 'secret'],
    ]);
    remove('a');
    expect(await kept(['a'], act, { isSecret: true })).toEqual([{ path: 'a', bytes: 8, mode: 0o644, reason: 'secret' }]);
  });

  it('are not the declared ones, and none in a run that records nothing', async () => {
    expect(await kept(['a'], () => write('a', 'x'), { except: new Set(['a']) })).toEqual([]);
    expect(await kept(['b'], () => write('b', 'x'), {}, files({ isRecorded: false }))).toEqual([]);
  });

  it('cost the file and not the result when they can’t be stored', async () => {
    const failing = { ...store, getBlob: store.getBlob.bind(store), putBlob: () => Promise.reject(new Error('no space')) };
    expect(await kept(['a'], () => write('a', 'x'), {}, files({ store: failing }))).toMatchObject([{ path: 'a', reason: 'unreadable' }]);
    expect(warnings).toEqual(['no space']);
  });
});

describe('the files of a reused call', () => {
  it('are restored where they are missing, left where they are the same, and left where they are others', async () => {
    const names = ['a', 'b', 'c/d'];
    const recorded = await kept(names, () => names.forEach((name) => write(name, `draft of ${name}`)));
    remove('a');
    write('b', 'mine');
    const port = files();
    expect(await reuse(port, recorded, call(1))).toEqual(['restored', 'kept', 'same']);
    expect([read('a'), read('b')]).toEqual(['draft of a', 'mine']);
    expect(changedFilesWarnings(port.changed())).toEqual([
      "@draw: b has other content than it wrote, and is left as it is; --resume 'main/draw#1' executes its call again",
    ]);
  });

  it('are reported once for each function, with the first path', async () => {
    const names = ['a', 'b', 'c'];
    const recorded = await kept(names, () => names.forEach((name) => write(name, 'draft')));
    names.forEach((name) => write(name, 'mine'));
    const port = files();
    for (const [at, file] of recorded.entries()) await reuse(port, [file], call(at, at < 2 ? 'draw' : 'paint'));
    expect(changedFilesWarnings(port.changed())).toEqual([
      "@draw: a and 1 more have other content than it wrote, and are left as they are; --resume 'main/draw#0' executes the first of the calls again, --resume @draw all calls of @draw",
      "@paint: c has other content than it wrote, and is left as it is; --resume 'main/paint#2' executes its call again",
    ]);
  });

  it('are gone where their content was not kept or is lost, and then none is restored', async () => {
    const recorded = await kept(['a', 'b'], () => ['a', 'b'].forEach((name) => write(name, name)));
    const [a, b] = recorded as [WrittenFile, WrittenFile];
    const { blob: _, ...unkept } = b;
    ['a', 'b'].forEach(remove);
    expect(await reuse(files(), [a, { ...unkept, reason: 'too-large' }], call(1))).toEqual(['b']);
    const lost = { ...store, putBlob: store.putBlob.bind(store), getBlob: async () => undefined };
    expect(await reuse(files({ store: lost }), recorded, call(1))).toEqual(['a', 'b']);
    expect(fs.readdirSync(root)).toEqual([]);
    write('b', 'mine');
    expect(await reuse(files(), [{ ...unkept, reason: 'too-large' }], call(1))).toEqual(['kept']);
  });

  it('are left out with a warning where they can’t be written', async () => {
    const recorded = await kept(['sub/a'], () => write('sub/a', 'x'));
    remove('sub');
    write('sub', 'a file now');
    expect(await reuse(files(), recorded, call(1))).toEqual(['absent']);
    remove('sub');
    fs.symlinkSync(os.tmpdir(), path.join(root, 'sub'));
    expect(await reuse(files(), recorded, call(1))).toEqual(['absent']);
    expect(warnings).toEqual([
      "sub/a, which @draw wrote, can't be restored: a part of the path is not a directory",
      "sub/a, which @draw wrote, can't be restored: a link above it leads out of the project, or into a folder of git or mlld",
    ]);
  });

  it('RESTORE-2: end as the latest call had left them, in whatever order the calls are reused', async () => {
    const versions: WrittenFile[] = [];
    for (const version of [1, 2, 3, 4]) versions.push(...(await kept(['notes.md'], () => write('notes.md', `version ${version}`))));
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 1 }), fc.boolean(), async (order, isParallel) => {
        remove('notes.md');
        const port = files();
        const one = (at: number): Promise<unknown> => reuse(port, [versions[at] as WrittenFile], call(at));
        if (isParallel) await Promise.all(order.map(one));
        else for (const at of order) await one(at);
        expect(read('notes.md')).toBe(`version ${Math.max(...order) + 1}`);
        expect(port.changed().size).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('RESTORE-3: are not reported where a later call accounts for the content, reused or executed', async () => {
    const [draft] = (await kept(['notes.md'], () => write('notes.md', 'draft'))) as [WrittenFile];
    const [final] = (await kept(['notes.md'], () => write('notes.md', 'final'))) as [WrittenFile];
    const reused = files();
    expect([await reuse(reused, [draft], call(1)), await reuse(reused, [final], call(2, 'revise'))]).toEqual([['kept'], ['same']]);
    expect(reused.changed().size).toBe(0);
    const executed = files();
    await reuse(executed, [draft], call(1));
    await kept(['notes.md'], () => write('notes.md', 'other end'), {}, executed);
    expect(executed.changed().size).toBe(0);
    const undone = files();
    write('notes.md', 'draft');
    await reuse(undone, [draft], call(1));
    await reuse(undone, [final], call(2, 'revise'));
    expect([...undone.changed().keys()]).toEqual(['revise']);
  });
});
