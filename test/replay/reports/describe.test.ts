import { describe, expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { opPath, seqOf, type BlobId } from '../../../journal/ids.js';
import { describeEvent, matchesFilter } from '../../../replay/reports/summary/describe.js';
import { call, entries, FINGERPRINT, JOB, key, run, runRef, started } from '../../support/written-runs.js';

const OP = opPath('main/ask#0');
const sentence = (fact: Fact): string => describeEvent(entries(runRef(1), [fact])[0]!.event);

describe('a sentence per event', () => {
  it.each<[string, Fact]>([
    ['run of job started by mlld 0.1.0 on node 20.20.0', started(runRef(1))],
    [
      'run failed: the pier is closed (1 executed, 2 reused, 3 failed)',
      {
        type: 'run.finished',
        status: 'failed',
        error: { code: 'BAIL', message: 'the pier is closed' },
        totals: { executed: 1, reused: 2, failed: 3 },
      },
    ],
    ['read the module lib.mld', { type: 'source.loaded', path: 'lib.mld', blob: `sha256:${'a'.repeat(64)}` as BlobId, role: 'module' }],
    [
      `read the module @a/b 1.2.0 (${'c'.repeat(12)})`,
      {
        type: 'source.loaded',
        path: '.mlld/modules/x/b.mld',
        blob: `sha256:${'c'.repeat(64)}` as BlobId,
        role: 'module',
        module: { name: '@a/b', version: '1.2.0', sha256: 'c'.repeat(64) },
      },
    ],
    [
      '@ask is defined by one part',
      {
        type: 'definition.recorded',
        fn: 'ask',
        fingerprint: FINGERPRINT,
        parts: [{ kind: 'body', name: 'ask', digest: 'x' }],
      },
    ],
    ['for:iteration started with "docs/a"', { type: 'op.started', op: OP, kind: 'for:iteration', item: 'docs/a' }],
    ['for started over 3 items', { type: 'op.started', op: OP, kind: 'for', total: 3 }],
    ['exe survey started', { type: 'op.started', op: OP, kind: 'exe', name: 'survey' }],
    ['ended: failed: no', { type: 'op.finished', op: OP, outcome: 'failed', message: 'no' }],
    [
      '@ask called with "two\\nlines" (attempt 2)',
      { type: 'call.started', key: key('a'), op: OP, fn: 'ask', args: { inline: ['two\nlines'] }, fingerprint: FINGERPRINT, attempt: 2 },
    ],
    [
      'completed in 5ms with "A" for $0.5',
      { type: 'call.completed', key: key('a'), op: OP, result: { inline: 'A' }, elapsedMs: 5, usage: { costUsd: 0.5 } },
    ],
    [
      'completed in 5ms with 99999 bytes, not reusable: status 1',
      {
        type: 'call.completed',
        key: key('a'),
        op: OP,
        result: { blob: `sha256:${'a'.repeat(64)}` as BlobId, bytes: 99999 },
        elapsedMs: 5,
        unusable: 'status 1',
      },
    ],
    [
      `@ask reused from event 7 of ${runRef(0).run} of job.mld`,
      { type: 'call.reused', key: key('a'), op: OP, fn: 'ask', from: { workflow: JOB, run: runRef(0).run, seq: seqOf(7) } },
    ],
    ['call denied: not today', { type: 'call.failed', key: key('a'), op: OP, message: 'not today', denied: true, elapsedMs: 0 }],
    [
      'file.read notes.txt: no such file',
      { type: 'effect.performed', op: OP, kind: 'file.read', subject: 'notes.txt', request: 'x', error: 'no such file' },
    ],
    [
      'hook @a ran after @ask and changed the value',
      { type: 'hook.fired', op: OP, hook: '@a', timing: 'after', filter: '@ask', transformed: true, elapsedMs: 1 },
    ],
    [
      'guard @g before secret: deny: no secrets',
      {
        type: 'guard.decided',
        op: OP,
        guard: '@g',
        timing: 'before',
        filter: 'secret',
        decision: 'deny',
        reason: 'no secrets',
        transformed: false,
      },
    ],
    ['checkpoint "weather" reached, resume auto, ttl 1.0s', { type: 'checkpoint.reached', name: 'weather', resume: 'auto', ttlMs: 1000 }],
    ['checkpoint "weather" closed, not complete', { type: 'checkpoint.closed', name: 'weather', complete: false }],
    ['@ask invalidated 2 forked results', { type: 'memo.invalidated', selector: '@ask', keys: [key('a'), key('b')], borrowed: true }],
    ['all earlier results invalidated (fresh)', { type: 'memo.reset', reason: 'fresh' }],
  ])('%s', (expected, fact) => {
    expect(sentence(fact)).toBe(expected);
  });

  it('names a kind of a later version', () => {
    expect(describeEvent({ type: 'moon.risen' } as unknown as JournalEvent)).toBe('moon.risen');
  });

  it('is one line of limited length', () => {
    const long = sentence({ type: 'op.started', op: OP, kind: 'for:iteration', item: 'y\n'.repeat(200) });
    expect(long).toHaveLength('for:iteration started with ""'.length + 80);
  });
});

describe('the filter', () => {
  const history = run(runRef(1), call('main/for#0[1]/ask#0', 'a'), call('main/for#0[10]/ask#0', 'b'), call('main/for#01/ask#0', 'c')).map(
    ({ event }) => event,
  );
  const shown = (filter: Parameters<typeof matchesFilter>[1]): string[] =>
    history.filter((event) => matchesFilter(event, filter)).map((event) => ('op' in event ? event.op : event.type));

  it('takes whole types and groups of types', () => {
    expect(shown({ types: ['call.started'] })).toHaveLength(3);
    expect(shown({ types: ['call', 'run.finished'] })).toHaveLength(7);
    expect(shown({ types: ['cal'] })).toEqual([]);
    expect(shown({})).toHaveLength(history.length);
  });

  it('takes an operation and what is inside it, and nothing that only begins alike', () => {
    expect(new Set(shown({ op: 'main/for#0' }))).toEqual(new Set(['main/for#0[1]/ask#0', 'main/for#0[10]/ask#0']));
    expect(new Set(shown({ op: 'main/for#0[1]' }))).toEqual(new Set(['main/for#0[1]/ask#0']));
    expect(shown({ op: 'main/for#0[1]/ask#0', types: ['call.completed'] })).toHaveLength(1);
  });
});
