import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, workflowOf, type Fingerprint } from '../../../journal/ids.js';
import { memo } from '../../../replay/memo/memo.js';
import { createOverlay, type Overlay } from '../../../replay/memo/overlay.js';
import type { CachePolicy } from '../../../replay/memo/policy.js';
import { fold } from '../../../replay/fold/projection.js';
import { call, FINGERPRINT, callKeyOf, run, runRef } from '../../support/written-runs.js';

const COLLECT = workflowOf('collect.mld');
const ALL: CachePolicy = { records: true, reuses: 'all' };
const ENDED_MS = Date.parse('2026-01-01T00:00:03.000Z');
const EBB = { key: callKeyOf('ebb'), fingerprint: FINGERPRINT, op: opPath('main/ask#0'), parts: [] };

/** Called with "ebb" in run 1 and with "flow" in run 2, the present one; a fork source has "ebb" and "slack". */
function answers(
  details: { readonly complete?: boolean; readonly changed?: 'serve' | 'ask'; readonly forked?: boolean; readonly refused?: boolean } = {},
): Overlay {
  const refused: Fact = { type: 'memo.invalidated', selector: '@ask', keys: [EBB.key, callKeyOf('slack')], borrowed: true };
  const own = fold(memo, [
    ...run(runRef(1), call('main/ask#0', 'ebb')),
    ...run(runRef(2), details.refused === true ? [refused] : [], call('main/ask#0', 'flow')),
  ]);
  const lent = fold(memo, run(runRef(1, COLLECT), call('main/ask#0', 'ebb'), call('main/ask#1', 'slack')));
  return createOverlay({
    run: runRef(2).run,
    own,
    definitions: new Map(),
    complete: new Map(details.complete === undefined ? [] : [['survey', details.complete]]),
    forks: details.forked === true ? [{ workflow: COLLECT, memo: lent, definitions: new Map() }] : [],
    ...(details.changed !== undefined && { changed: details.changed }),
  });
}

const serves = (given: Overlay, text: string, policy: CachePolicy, nowMs = ENDED_MS): boolean =>
  given.lookup({ ...EBB, key: callKeyOf(text) }, policy, nowMs) !== undefined;

describe('the result cache', () => {
  it('finds the result of the fork source first, then the script’s own', () => {
    const forked = answers({ forked: true });
    expect(forked.lookup(EBB, ALL, ENDED_MS)).toMatchObject({ forkSource: COLLECT, entry: { result: { ref: runRef(1, COLLECT) } } });
    expect(forked.lookup({ ...EBB, key: callKeyOf('flow') }, ALL, ENDED_MS)).toMatchObject({
      forkSource: undefined,
      entry: { result: { ref: runRef(2) } },
    });
    expect(answers().lookup(EBB, ALL, ENDED_MS)).toMatchObject({ forkSource: undefined, entry: { result: { ref: runRef(1) } } });
  });

  it('never reuses a forked result that was invalidated', () => {
    const refused = answers({ forked: true, refused: true });
    expect(refused.lookup(EBB, ALL, ENDED_MS)).toMatchObject({ forkSource: undefined, entry: { result: { ref: runRef(1) } } });
    expect(serves(refused, 'slack', ALL)).toBe(false);
  });

  it('reuses nothing where the policy forbids it', () => {
    expect(serves(answers({ forked: true }), 'ebb', { records: false, reuses: 'no' })).toBe(false);
  });

  it('reuses only results of this run and forked ones where the mode is manual', () => {
    const manual: CachePolicy = { records: true, reuses: 'this-run' };
    expect(serves(answers(), 'ebb', manual)).toBe(false);
    expect(serves(answers(), 'flow', manual)).toBe(true);
    expect(serves(answers({ forked: true }), 'slack', manual)).toBe(true);
  });

  it('lets results expire after their ttl, except those of this run', () => {
    expect(serves(answers(), 'ebb', { ...ALL, ttlMs: 1000 }, ENDED_MS + 999)).toBe(true);
    expect(serves(answers(), 'ebb', { ...ALL, ttlMs: 1000 }, ENDED_MS + 1000)).toBe(false);
    expect(serves(answers(), 'ebb', { ...ALL, ttlMs: 0 })).toBe(false);
    expect(serves(answers(), 'flow', { ...ALL, ttlMs: 0 }, ENDED_MS + 1e9)).toBe(true);
    expect(serves(answers({ forked: true }), 'slack', { ...ALL, ttlMs: 0 })).toBe(false);
  });

  it('reuses results of a complete scope only, except those of this run', () => {
    const survey: CachePolicy = { ...ALL, requireComplete: 'survey' };
    expect(serves(answers(), 'ebb', survey)).toBe(false);
    expect(serves(answers({ complete: false }), 'ebb', survey)).toBe(false);
    expect(serves(answers({ complete: true }), 'ebb', survey)).toBe(true);
    expect(serves(answers({ complete: false }), 'flow', survey)).toBe(true);
  });

  it('marks a hit whose definition has changed, and makes it a miss where changed definitions execute', () => {
    const edited = { ...EBB, fingerprint: `sha256:${'e'.repeat(64)}` as Fingerprint };
    expect(answers().lookup(EBB, ALL, ENDED_MS)).toMatchObject({ edit: { definition: false } });
    expect(answers().lookup(edited, ALL, ENDED_MS)).toMatchObject({ edit: { definition: true } });
    expect(answers({ changed: 'ask' }).lookup(EBB, ALL, ENDED_MS)).toBeDefined();
    expect(answers({ changed: 'ask' }).lookup(edited, ALL, ENDED_MS)).toBeUndefined();
  });
});
