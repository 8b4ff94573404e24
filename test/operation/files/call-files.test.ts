/** CALL-FILE-1 to CALL-FILE-4: what the cache stage does with the port to the files of calls. */
import { describe, expect, it } from 'vitest';
import type { WrittenFile } from '../../../journal/facts/call-event.js';
import { callOrReuse } from '../../../src/operation/cache-stage.js';
import type { Execute } from '../../../src/operation/cacheable-call.js';
import { CallFileWatch, findFiles } from '../../../src/operation/files/call-files.js';
import type { CallOptions } from '../../../src/calls/options.js';
import type { CallFiles, KeepRules } from '../../../src/runtime/calls/call-files.js';
import type { CachedResult } from '../../../src/runtime/calls/result-cache.js';
import type { BlobId, Fingerprint, CallKey } from '../../../journal/ids.js';
import { annotate, type Value } from '../../../src/values/value.js';
import { bareCall } from '../bare-call.js';
import { bareRun } from '../../support/bare-run.js';

const FILE: WrittenFile = { path: 'out/a.md', blob: 'sha256:aa' as BlobId, bytes: 3, mode: 0o644 };

interface Seen {
  readonly steps: string[];
  rules: KeepRules | undefined;
}

function portOf(seen: Seen, { keepsByDefault = true, gone = [] as readonly string[] } = {}): CallFiles {
  return {
    keepsByDefault,
    look: async (paths) => {
      seen.steps.push(`look ${paths.join(' ')}`);
      return new Map(paths.map((name) => [name, { stamp: 'absent' }]));
    },
    keep: async (before, rules) => {
      seen.steps.push(`keep ${[...before.keys()].join(' ')}`);
      seen.rules = rules;
      return [FILE];
    },
    find: async (files) => {
      seen.steps.push(`find ${files.map(({ path }) => path).join(' ')}`);
      return { gone, contents: new Map() };
    },
    restore: async (files, _found, { fn }) => {
      seen.steps.push(`restore ${files.map(({ path }) => path).join(' ')} of @${fn}`);
      return files.map(({ path }) => ({ path, did: 'restored' as const }));
    },
  };
}

function setUp(inputs: readonly Value[], port: Parameters<typeof portOf>[1] | 'none' = {}, options: CallOptions = {}) {
  const bare = bareRun();
  const seen: Seen = { steps: [], rules: undefined };
  const cache = {
    ...bare.run.cache,
    ...(port !== 'none' && { callFiles: portOf(seen, port) }),
    lookup: (query: Parameters<typeof bare.run.cache.lookup>[0]) => {
      const known = bare.run.cache.lookup(query) as CachedResult | undefined;
      return known && { ...known, files: [FILE] };
    },
  };
  const call = bareCall({ ...bare.run, cache }, bare.frame.op.child('draw'), { fn: 'draw', inputs, args: ['x'], options });
  const execute: Execute = (_lookup, _body, around) => around(async () => (seen.steps.push('body') > 0 ? 'done' : ''))(bare.frame, []);
  return { call, execute, seen, facts: bare.facts };
}

const identity = (hasSecret = false) => ({
  key: 'k' as CallKey,
  plainKey: 'k' as CallKey,
  hasSecret,
  definition: { fingerprint: 'draw' as Fingerprint, parts: [] },
  request: { fn: 'draw', args: [] },
});

describe('a call that names files', () => {
  it('CALL-FILE-1: has them looked at before its body and kept before its end is recorded; reused, they are restored', async () => {
    const { call, execute, seen, facts } = setUp(['out/a.md']);
    await callOrReuse(call, execute);
    expect(seen.steps).toEqual(['look out/a.md', 'body', 'keep out/a.md']);
    expect(facts.at(-1)).toMatchObject({ type: 'call.completed', files: [FILE] });
    await callOrReuse(call, execute);
    expect(seen.steps.slice(3)).toEqual(['find out/a.md', 'restore out/a.md of @draw']);
    expect(facts.at(-1)).toMatchObject({ type: 'call.reused', files: [{ path: 'out/a.md', did: 'restored' }] });
  });

  it('is executed again when one is gone', async () => {
    const { call, execute, seen, facts } = setUp(['out/a.md'], { gone: ['out/a.md'] });
    await callOrReuse(call, execute);
    await callOrReuse(call, execute);
    expect(seen.steps.filter((step) => step === 'body')).toHaveLength(2);
    expect(facts.filter(({ type }) => type === 'call.started').at(-1)).toMatchObject({ gone: ['out/a.md'] });
  });

  it.each<[string, CallOptions, boolean, boolean]>([
    ['usually', {}, true, true],
    ['not with the option', { files: 'ignore' }, true, false],
    ['not where the configuration says so', {}, false, false],
    ['where the option says so, whatever the configuration says', { files: 'keep' }, false, true],
  ])('has them kept and restored %s', async (_when, options, keepsByDefault, isKept) => {
    const { call, execute, seen } = setUp(['out/a.md'], { keepsByDefault }, options);
    await callOrReuse(call, execute);
    await callOrReuse(call, execute);
    expect(seen.steps.length > 1).toBe(isKept);
  });

  it('CALL-FILE-4: has nothing looked at where there is no port', async () => {
    const { call, execute, seen, facts } = setUp(['out/a.md'], 'none');
    await callOrReuse(call, execute);
    await callOrReuse(call, execute);
    expect([seen.steps, facts.filter((fact) => 'files' in fact)]).toEqual([['body'], []]);
  });

  it('passes on that a secret is in it, and what is declared', async () => {
    for (const [inputs, hasSecret, isSealed] of [
      [['out/a.md'], false, true],
      [['out/a.md'], true, false],
      [[annotate('out/a.md', { labels: ['secret'] })], false, false],
      [['out/a.md'], false, false],
    ] as const) {
      const { call, seen } = setUp(inputs);
      const watch = new CallFileWatch(call, identity(hasSecret), {});
      await watch.begin();
      await watch.end(isSealed, [{ path: 'out/b.md', reason: 'absent' }]);
      expect(seen.rules).toMatchObject({ isSecret: hasSecret || isSealed || typeof inputs[0] !== 'string', hidesText: undefined });
      expect([...(seen.rules?.except ?? [])]).toEqual(['out/b.md']);
    }
  });
});

describe('a call without a word that may be a path', () => {
  it('waits for nothing', async () => {
    const { call, seen } = setUp(['the tide at noon', 3.5]);
    const watch = new CallFileWatch(call, identity(), {});
    expect(watch.begin()).toBeUndefined();
    expect([await watch.end(false), seen.steps]).toEqual([undefined, []]);
  });
});

describe('CALL-FILE-3: the files of a recorded result', () => {
  it('are left alone where the arguments of now do not name them', async () => {
    const { call, seen } = setUp(['out/other.md']);
    const known = { files: [FILE, { ...FILE, path: '../evil' }, { ...FILE, path: '.git/hooks/pre-commit' }] } as unknown as CachedResult;
    const found = await findFiles(call, identity(), known, {});
    expect([found.gone, await found.restore(), seen.steps]).toEqual([[], [], []]);
  });
});
