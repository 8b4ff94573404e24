/** A start that was withdrawn, because another run had the call: reports tell of a run without it. team-store.md 6. */
import { describe, expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { emptyLedger, unpricedInFlight, followCall } from '../../../replay/fold/calls/call-ledger.js';
import { measureConcurrency, noConcurrency } from '../../../replay/fold/call-concurrency.js';
import { fold, type Projection } from '../../../replay/fold/projection.js';
import { functionHistory } from '../../../replay/memo/history.js';
import { recording } from '../../../replay/recording/recorded-world.js';
import { auditRun } from '../../../replay/reports/audit/audit-run.js';
import { auditTrail, unended, type AuditEntry } from '../../../replay/reports/audit/audit.js';
import { legality } from '../../../replay/reports/audit/verify.js';
import { callRecords } from '../../../replay/reports/call/call-record.js';
import { runCalls } from '../../../replay/reports/diff/run-calls.js';
import { explanation } from '../../../replay/reports/explain/explain.js';
import { dispatchState } from '../../../replay/reports/postmortem/dispatch-state.js';
import { postMortem } from '../../../replay/reports/postmortem/postmortem.js';
import { summary } from '../../../replay/reports/summary/summary.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { call, callKeyOf, entries, finished, inside, JOB, runRef, started } from '../../support/written-runs.js';

const OTHER = runRef(9).run;
const OP = opPath('main/survey#0/ask#0');
const key = callKeyOf('ebb');
const TRIED = { lane: 'claude', reserved: { usd: 0.2, basis: 'history' } } as const;

const [BEGIN, START, COMPLETE, END] = call(OP, 'ebb') as [Fact, Fact, Fact, Fact];
const BEGUN: Fact = { ...START, ...TRIED } as Fact;
const WITHDRAWN: Fact = { type: 'call.withdrawn', key, op: OP, to: OTHER };
const REUSED: Fact = { type: 'call.reused', key, op: OP, fn: 'ask', site: 'job.mld:1:1', from: { run: OTHER, seq: seqOf(4) } };
/** Takes the place of an event, so that those behind it have the same numbers and times. */
const NOTHING: Fact = { type: 'tide.turned' } as unknown as Fact;
const FAILED: Fact = { type: 'call.failed', key, op: OP, message: 'no', elapsedMs: 1, class: 'overloaded', retryInMs: 5 };

const around = (facts: readonly Fact[]): Fact[] => [
  started(runRef(1)),
  ...inside('main/survey#0', { kind: 'exe', name: 'survey' }, [BEGIN, ...facts, END]),
  finished(),
];
const HISTORIES: readonly (readonly [what: string, withdrawn: readonly Fact[], without: readonly Fact[]])[] = [
  ['whose result was then reused', [BEGUN, WITHDRAWN, REUSED], [NOTHING, NOTHING, REUSED]],
  ['which started once more', [BEGUN, WITHDRAWN, BEGUN, COMPLETE], [NOTHING, NOTHING, BEGUN, COMPLETE]],
  ['with which the run ended', [BEGUN, WITHDRAWN], [NOTHING, NOTHING]],
];
const PROJECTIONS: { readonly [name: string]: Projection<unknown> } = {
  summary: summary as Projection<unknown>,
  audit: auditTrail({ keepResults: true }) as Projection<unknown>,
  verify: legality as Projection<unknown>,
  explain: explanation(runRef(1).run, []) as Projection<unknown>,
  diff: runCalls as Projection<unknown>,
  timeline: timeline as Projection<unknown>,
  dispatch: dispatchState as Projection<unknown>,
  history: functionHistory('ask') as Projection<unknown>,
  'history around': functionHistory('survey') as Projection<unknown>,
  recording: recording as Projection<unknown>,
};

/** Members that tell which calls were looked at, whoever makes them. */
const LOOKED_AT: readonly string[] = ['argumentsOf', 'memo', 'blobs', 'sites'];

/**
 * A comparison keeps the starts themselves, apart from its calls: where a later run began with `--fresh`, no memo has the call any more,
 * and the withdrawn start alone has the arguments by which the diff names the result that was reused behind it.
 */
const KEPT: { readonly [name: string]: readonly string[] } = { diff: ['withdrawn'] };

/** Leaves out of a state what says nothing: empty collections, and counts of 0. */
function said(state: unknown, leftOut: readonly string[] = LOOKED_AT): unknown {
  if (state instanceof Map || state instanceof Set) return said([...state], leftOut);
  if (Array.isArray(state)) {
    const members = state
      .map((each) => said(each, leftOut))
      .filter((each) => each !== undefined && !(Array.isArray(each) && each.length < 2 && state.length > 0));
    return members.length === 0 ? undefined : members;
  }
  if (typeof state !== 'object' || state === null) return state === 0 || state === null ? undefined : state;
  const members = Object.entries(state).filter(([name]) => !leftOut.includes(name));
  const kept = members.map(([name, value]) => [name, said(value, leftOut)] as const).filter(([, value]) => value !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

describe.each(HISTORIES)('a withdrawn start %s', (_what, withdrawn, without) => {
  it.each(Object.entries(PROJECTIONS))('is not seen: %s', (name, projection) => {
    const leftOut = [...LOOKED_AT, ...(KEPT[name] ?? [])];
    const of = (facts: readonly Fact[]): unknown => said(fold(projection, entries(runRef(1), around(facts))), leftOut);
    expect(of(withdrawn)).toEqual(of(without));
  });

  it('is neither unresolved nor counted in a post-mortem', () => {
    const of = (facts: readonly Fact[]) => {
      const { unresolved, failures, steps } = fold(postMortem, entries(runRef(1), around(facts)));
      return said({ unresolved, failures, steps });
    };
    expect(of(withdrawn)).toEqual(of(without));
  });

  it('is no attempt, and was not in flight', () => {
    const of = (facts: readonly Fact[]) => {
      const ledger = emptyLedger();
      for (const { event } of entries(runRef(1), around(facts))) followCall(ledger, event);
      return { total: ledger.total, inFlight: unpricedInFlight(ledger) };
    };
    expect(of(withdrawn)).toEqual(of(without));
    const concurrency = noConcurrency();
    for (const { event } of entries(runRef(1), around(withdrawn))) measureConcurrency(concurrency, event);
    expect(concurrency.inFlight.size).toBe(0);
  });

  it('has no entry and no attempt in an audit and in the record of the call', async () => {
    const of = async (facts: readonly Fact[]) => {
      const store = openMemoryStore();
      const journal = await store.create(runRef(1));
      for (const fact of around(facts)) await journal.append(fact);
      await journal.close();
      const [file] = await store.runs(JOB);
      if (file === undefined) throw new Error('there is a run');
      const seen: AuditEntry[] = [];
      const { totals } = await auditRun(store, file, {}, (entry) => seen.push(entry));
      const records = await callRecords(store, file, OP, () => undefined);
      return {
        totals,
        outcomes: seen.map((entry) => ('outcome' in entry ? entry.outcome : entry.entry)),
        attempts: records.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome)),
      };
    };
    expect(await of(withdrawn)).toEqual(await of(without));
  });
});

describe('a second attempt that was withdrawn', () => {
  const facts = around([BEGUN, FAILED, { ...BEGUN, try: 2 } as Fact, { ...WITHDRAWN, try: 2 } as Fact, REUSED]);
  const folded = <State>(projection: Projection<State>): State => fold(projection, entries(runRef(1), facts));

  it('leaves the first one, of a call whose result was reused', () => {
    expect(folded(legality).violations).toEqual([]);
    expect(folded(summary)).toMatchObject({ executed: 0, reused: 1, failed: 0, attempts: 1, retries: 0 });
    const calls = folded(timeline).spans.flatMap((span) => span.calls);
    expect(calls).toMatchObject([{ outcome: 'reused', from: { run: OTHER }, attempts: [{ outcome: 'failed' }] }]);
    expect(unended(folded(auditTrail({ keepResults: false })))).toEqual([]);
  });

  it('may be followed by another second one', () => {
    const again = around([
      BEGUN,
      FAILED,
      { ...BEGUN, try: 2 } as Fact,
      { ...WITHDRAWN, try: 2 } as Fact,
      { ...BEGUN, try: 2 } as Fact,
      COMPLETE,
    ]);
    expect(fold(legality, entries(runRef(1), again)).violations).toEqual([]);
    expect(fold(summary, entries(runRef(1), again))).toMatchObject({ executed: 1, attempts: 2, retries: 1 });
  });
});

describe('an impossible withdrawal', () => {
  const LOOK: Fact = { type: 'op.started', op: opPath(`${OP}/look#0`), kind: 'exe' };
  const LOOKED: Fact = { type: 'op.finished', op: opPath(`${OP}/look#0`), outcome: 'ok' };

  it.each<[string, Fact[], string]>([
    ['nothing started', [WITHDRAWN], 'where no attempt of the call is in flight'],
    ['another call started', [{ ...BEGUN, key: callKeyOf('flow') } as Fact, WITHDRAWN], 'where no attempt of the call is in flight'],
    ['its body had begun', [BEGUN, LOOK, LOOKED, WITHDRAWN], 'where the body of the call has begun'],
  ])('is a violation: %s', (_what, facts, message) => {
    const found = fold(legality, entries(runRef(1), around([...facts, REUSED]))).violations;
    expect(found).toMatchObject([{ rule: 'V3', message: expect.stringContaining(message) }]);
  });

  it('is described', async () => {
    const { describeEvent } = await import('../../../replay/reports/summary/describe.js');
    const text = (fact: Fact): string => describeEvent(entries(runRef(1), [fact])[0]?.event as JournalEvent);
    expect(text(WITHDRAWN)).toBe(`withdrawn before its body began: run ${OTHER} has the call`);
    expect(text({ type: 'call.withdrawn', key, op: OP })).toBe('withdrawn before its body began: the run must stop');
  });
});
