/** The database is asked only for digests that may name a blob. team-store.md 4.1 and 10. */
import { describe, expect, it } from 'vitest';
import { encode } from '../../../../journal/codec.js';
import type { Fact } from '../../../../journal/event.js';
import { opPath, seqOf } from '../../../../journal/ids.js';
import { digestsIn, NO_LINES } from '../../../../journal/postgres/lines.js';
import { sha256 } from '../../../../journal/canonical.js';
import { callStarted } from '../../support/facts.js';

const lineOf = (fact: Fact): string => encode(fact, seqOf(7), '2026-11-21T08:45:12.123Z', NO_LINES.hash).text;
const [blob, request] = [sha256('content'), sha256('request')];

describe('digests that may name a blob', () => {
  it('are those of results and contents, in each line', () => {
    const op = opPath('main/run#0');
    const performed: Fact = {
      type: 'effect.performed',
      op,
      kind: 'code.run',
      subject: 'x',
      request,
      result: { blob, bytes: 9 },
      elapsedMs: 1,
    };
    const loaded: Fact = { type: 'source.loaded', path: 'llm/run/many.mld', blob: sha256('source'), role: 'script' };
    expect([...digestsIn(lineOf(performed) + lineOf(loaded))]).toEqual([blob, sha256('source')]);
  });

  it('are not the key, the definition and the request of a call, which each call would have looked for', () => {
    expect([...digestsIn(lineOf(callStarted(1)))]).toEqual([]);
    expect([
      ...digestsIn(lineOf({ type: 'effect.performed', op: opPath('main/run#0'), kind: 'code.run', subject: 'x', request, elapsedMs: 1 })),
    ]).toEqual([]);
  });
});
