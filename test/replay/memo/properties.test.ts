/** Laws that hold for every projection and every history. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { opPath } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { auditTrail } from '../../../replay/reports/audit/audit.js';
import { checkpoints } from '../../../replay/memo/checkpoints.js';
import { functionHistory } from '../../../replay/memo/history.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usableEntry, memo, usable } from '../../../replay/memo/memo.js';
import { createOverlay } from '../../../replay/memo/overlay.js';
import { postMortem } from '../../../replay/reports/postmortem/postmortem.js';
import { eventOf, fold, follow, type Projection } from '../../../replay/fold/projection.js';
import { recording } from '../../../replay/recording/recorded-world.js';
import { runCalls } from '../../../replay/reports/diff/run-calls.js';
import { decodeSnapshot, captureIndex, encodeIndex, index, type Index } from '../../../replay/memo/snapshot.js';
import { runCounts } from '../../../replay/reports/stats/stats.js';
import { summary } from '../../../replay/reports/summary/summary.js';
import { legality } from '../../../replay/reports/audit/verify.js';
import { anyFacts, anyRun, anyRuns } from '../../support/any-run.js';
import { call, entries, FINGERPRINT, JOB, callKeyOf, runRef } from '../../support/written-runs.js';

/** Folds one run, or (first) all runs of a workflow. */
const PROJECTIONS: readonly (readonly [string, Projection<unknown>])[] = [
  ['memo and completeness', index],
  ['checkpoints', checkpoints],
  ['history of an llm function', functionHistory('ask')],
  ['history of an ordinary function', functionHistory('survey')],
  ['summary', summary],
  ['legality', legality],
  ['post-mortem', postMortem],
  ['calls for a diff', runCalls],
  ['counts for figures', runCounts],
  ['recorded world', recording],
  ['audit', auditTrail({ keepResults: true })],
] as readonly (readonly [string, Projection<unknown>])[];

/** Selects the parts in which two states of one fold must agree: not the tables that only hold each string once. */
const essence = ({ memo: { interned: _i, insides: _n, ...rest }, complete, definitions }: Index): unknown => ({
  ...rest,
  complete,
  definitions,
  order: [...rest.entries.keys()],
});

describe.each(PROJECTIONS)('%s', (_name, projection) => {
  it('gives the same state whether a history is folded at once or in two parts', () => {
    fc.assert(
      fc.property(anyRuns, fc.nat(), (runs, n) => {
        const history = runs.flat();
        const cut = n % (history.length + 1);
        const earlier = fold(projection, history.slice(0, cut));
        expect(fold(projection, history.slice(cut), earlier)).toEqual(fold(projection, history));
      }),
    );
  });

  it('takes any prefix, and any history with events missing, for input', () => {
    fc.assert(
      fc.property(anyRun, fc.infiniteStream(fc.boolean()), (run, keep) => {
        for (let length = 0; length <= run.length; length += 1) fold(projection, run.slice(0, length));
        fold(
          projection,
          run.filter(() => keep.next().value === true),
        );
      }),
    );
  });

  it('gives the same state when it follows the run that appends', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const ref = runRef(1);
        const see = follow(projection, projection.initial(), ref);
        let state: unknown = projection.initial();
        for (const { event, place } of run) {
          const { v: _v, seq, ts, hash, ...fact } = event;
          state = see(eventOf(fact as Fact, seq, ts, hash), place.position);
        }
        expect(state).toEqual(fold(projection, run));
      }),
    );
  });
});

describe('a random legal run', () => {
  it('always verifies', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        expect(fold(legality, run).violations).toEqual([]);
      }),
    );
  });

  it.each(['call.started', 'op.started', 'run.started'] as const)('does not verify without a %s that something refers to', (type) => {
    fc.assert(
      fc.property(anyRun, fc.nat(), (run, n) => {
        const candidates = run.filter(
          ({ event }, at) => event.type === type && run.slice(at + 1).some((later) => ends(later.event, event)),
        );
        fc.pre(candidates.length > 0);
        const taken = candidates[n % candidates.length];
        // Numbered anew, so that it isn't the gap that gives it away.
        const rest = entries(
          runRef(1),
          run.filter((entry) => entry !== taken).map(({ event }) => event),
        );
        expect(fold(legality, rest).violations).not.toEqual([]);
      }),
    );
  });
});

function ends(event: JournalEvent, begun: JournalEvent): boolean {
  if (begun.type === 'run.started') return true;
  const isEnd =
    begun.type === 'op.started' ? event.type === 'op.finished' : event.type === 'call.completed' || event.type === 'call.failed';
  return isEnd && 'op' in event && 'op' in begun && event.op === begun.op;
}

describe('memo', () => {
  it('has a result exactly for the calls whose last event is one', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const [expected, rejected] = [new Map<string, string>(), new Map<string, string>()];
        const move = (key: string, at: string, [from, to]: readonly [Map<string, string>, Map<string, string>]): void => {
          if (from.get(key) === at && from.delete(key)) to.set(key, at);
        };
        for (const { event, place } of runs.flat()) {
          if (event.type === 'call.completed' && event.unusable === undefined) {
            expected.set(event.key, `${place.ref.run}:${event.seq}`);
            rejected.delete(event.key);
          }
          if (event.type === 'memo.invalidated' && event.borrowed !== true)
            for (const key of event.keys) for (const results of [expected, rejected]) results.delete(key);
          if (event.type === 'result.rejected') move(event.key, `${event.from.run}:${event.from.seq}`, [expected, rejected]);
          if (event.type === 'result.restored') move(event.key, `${event.from.run}:${event.from.seq}`, [rejected, expected]);
          if (event.type === 'memo.reset') for (const results of [expected, rejected]) results.clear();
        }
        const state = fold(memo, runs.flat());
        expect(new Map([...usable(state)].map(([key, { result }]) => [key, `${result.ref.run}:${result.seq}`]))).toEqual(expected);
      }),
    );
  });

  it('has an unjudged result exactly for the calls that received one and neither completed nor were denied since', () => {
    fc.assert(
      fc.property(anyRuns, (runs) => {
        const [expected, by] = [new Map<string, string>(), new Map<string, string>()];
        for (const { event, place } of runs.flat()) {
          const at = `${place.ref.run}:${event.seq}`;
          if (event.type === 'result.received') {
            expected.set(event.key, at);
            by.set(event.key, `${place.ref.run} ${event.op}`);
          }
          if (event.type === 'call.completed') expected.delete(event.key);
          if (event.type === 'call.failed' && event.denied && by.get(event.key) === `${place.ref.run} ${event.op}`)
            expected.delete(event.key);
          if (event.type === 'memo.invalidated' && event.borrowed !== true) for (const key of event.keys) expected.delete(key);
          if (event.type === 'memo.reset') expected.clear();
        }
        const { unjudged } = fold(memo, runs.flat());
        expect(new Map([...unjudged].map(([key, { result }]) => [key, `${result.ref.run}:${result.seq}`]))).toEqual(expected);
      }),
    );
  });

  it('has a result again when an invalidated call is executed again', () => {
    fc.assert(
      fc.property(anyRuns, fc.constantFrom('ebb', 'flow', 'slack'), (runs, text) => {
        const key = callKeyOf(text);
        const dropped = entries(runRef(8), [{ type: 'memo.invalidated', selector: '@ask', keys: [key] }]);
        const history = [...runs.flat(), ...dropped];
        expect(usableEntry(fold(memo, history), key)).toBeUndefined();
        const again = entries(runRef(9), call('main/ask#0', text));
        expect(usableEntry(fold(memo, [...history, ...again]), key)?.result.ref).toEqual(runRef(9));
      }),
    );
  });
});

describe('the index', () => {
  it('folded on with what came since equals the fold of everything', () => {
    fc.assert(
      fc.property(anyRuns, fc.nat(), (runs, n) => {
        const history = runs.flat();
        const cut = n % (history.length + 1);
        const saved = encodeIndex(captureIndex({ covered: [], index: fold(index, history.slice(0, cut)) }));
        const { index: restored } = decodeSnapshot(Buffer.from(saved))!;
        expect(essence(fold(index, history.slice(cut), restored))).toEqual(essence(fold(index, history)));
      }),
    );
  });

  it('makes no difference to what is loaded, whenever it was saved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFacts, { minLength: 1, maxLength: 3 }), fc.nat(), async (runs, n) => {
        const store = openMemoryStore();
        const onDefect = (): void => expect.unreachable();
        const saveAt = n % (runs.flat().length + 1);
        let appended = 0;
        for (const [number, facts] of runs.entries()) {
          const journal = await store.create(runRef(number + 1));
          for (const fact of facts) {
            if (appended++ === saveAt) {
              const past = await loadWorkflow(store, JOB, { onDefect });
              const files = await store.runs(JOB);
              const covered = [
                ...(past.covered ?? []),
                ...(past.covered === undefined ? [{ run: files.at(-1)!.ref.run, from: await endOf(store, number + 1) }] : []),
              ];
              await store.writeDerived(JOB, 'index', encodeIndex(captureIndex({ covered, index: past })));
            }
            await journal.append(fact);
          }
          await journal.close();
        }
        const withIndex = await loadWorkflow(store, JOB, { onDefect });
        await store.writeDerived(JOB, 'index', '');
        expect(essence(withIndex)).toEqual(essence(await loadWorkflow(store, JOB, { onDefect })));
      }),
      { numRuns: 50 },
    );
  });
});

const endOf = async (store: ReturnType<typeof openMemoryStore>, number: number) => (await store.scan(runRef(number), () => undefined)).end;

describe('a fork', () => {
  it('never changes its source, and never reuses what was invalidated', () => {
    fc.assert(
      fc.property(anyRuns, anyRun, (lent, run) => {
        const source = fold(memo, lent.flat());
        const before = structuredClone(essence({ ...index.initial(), memo: source }));
        const own = memo.initial();
        const answers = createOverlay({
          run: runRef(1).run,
          own,
          definitions: new Map(),
          complete: new Map(),
          forks: [{ workflow: JOB, memo: source, definitions: new Map() }],
        });
        for (const { event, place } of run) {
          memo.apply(own, event, place);
          if (!('key' in event)) continue;
          const known = answers.lookup(
            { key: event.key, fingerprint: FINGERPRINT, op: opPath('main/ask#0'), parts: [] },
            { records: true, reuses: 'all' },
            0,
          );
          if (own.refused.has(event.key)) expect(known?.forkSource).toBeUndefined();
          else if (usableEntry(source, event.key) !== undefined) expect(known?.forkSource).toBe(JOB);
        }
        expect(essence({ ...index.initial(), memo: source })).toEqual(before);
      }),
    );
  });
});
