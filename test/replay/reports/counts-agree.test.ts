/** Every report of a run counts its calls alike, also of a run that crashed, and where lines of its journal are lost. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { numberOfExecution } from '../../../journal/facts/attempt-number.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import { auditRun } from '../../../replay/reports/audit/audit-run.js';
import { diffRuns } from '../../../replay/reports/diff/diff-run.js';
import { callRows } from '../../../replay/export/call-rows.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { otlpSpans } from '../../../replay/export/otlp.js';
import { spanObject } from '../../../replay/export/otlp-span.js';
import { summariseRun } from '../../../replay/reports/summary/summarise-run.js';
import { endedCall, isEndOfCall, type EndOfCall } from '../../../replay/fold/calls/ended-call.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { postMortemOf } from '../../../replay/reports/postmortem/postmortem-run.js';
import { reportData } from '../../../replay/reports/timeline/report.js';
import { statsOf } from '../../../replay/reports/stats/stats.js';
import { timeline, type Timeline } from '../../../replay/reports/timeline/timeline.js';
import { anyFacts } from '../../support/any-run.js';
import { call, JOB, runRef, started } from '../../support/written-runs.js';

interface Counts {
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  readonly denied: number;
}

const countsOf = ({ executed, reused, failed, denied }: Counts): Counts => ({ executed, reused, failed, denied });

/** Rows are facts: a call that failed has its row also where it was made again later in the run, and is not counted. */
function countOutcomes(outcomes: readonly unknown[], madeAgain: number): Counts {
  const count = (wanted: string): number => outcomes.filter((outcome) => wanted === outcome).length;
  return { executed: count('executed'), reused: count('reused'), failed: count('failed') - madeAgain, denied: count('denied') };
}

/** Counts the failed calls that another one of their key made again later in the run. */
async function madeAgainIn(store: JournalStore, { ref }: RunFile): Promise<number> {
  const ends: EndOfCall[] = [];
  await store.scan(ref, (event) => void (isEndOfCall(event) && ends.push(event)));
  const makesAgain = (end: EndOfCall): boolean => endedCall(end).outcome !== 'denied';
  return ends.filter(
    (end, place) =>
      endedCall(end).outcome === 'failed' && ends.slice(place + 1).some((later) => later.key === end.key && makesAgain(later)),
  ).length;
}

interface OtlpSpan {
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

const spansIn = ({ ref }: RunFile, state: Timeline, isRunning: boolean): OtlpSpan[] =>
  [...otlpSpans(ref, state, { version: '0', isRunning })].map(({ parts }) => spanObject(ref, parts) as OtlpSpan);

const attribute = ({ attributes }: OtlpSpan, name: string): string | undefined =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

async function everyReport(store: JournalStore, file: RunFile): Promise<{ readonly [report: string]: Counts }> {
  const options = { nowMs: 0, onDefect: () => expect.unreachable() };
  const state = await foldRun(store, file.ref, timeline);
  const spans = spansIn(file, state, false).filter((span) => attribute(span, 'mlld.call.outcome') !== undefined);
  const madeAgain = await madeAgainIn(store, file);
  const { left } = await diffRuns(store, file, file, options);
  return {
    list: countsOf(await summariseRun(store, file, options)),
    stats: countsOf((await statsOf(store, [file], options.onDefect)).total),
    audit: countsOf((await auditRun(store, file, {}, () => undefined)).totals),
    page: countsOf(reportData(file.ref, state, 'crashed').total),
    postmortem: countsOf(await postMortemOf(store, file, options)),
    diff: countsOf(left),
    csv: countOutcomes(
      [...callRows(file.ref, state)].map(({ outcome }) => outcome),
      madeAgain,
    ),
    trace: countsOf((chromeTrace(file.ref, state) as { readonly otherData: Counts }).otherData),
    otlp: countOutcomes(
      spans.map((span) => attribute(span, 'mlld.call.outcome')),
      madeAgain,
    ),
  };
}

async function recorded(facts: readonly Fact[]): Promise<{ readonly store: JournalStore; readonly file: RunFile }> {
  const store = openMemoryStore();
  const journal = await store.create(runRef(1));
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return { store, file: (await store.runs(JOB))[0] as RunFile };
}

/** Calls whose commands fail, that are denied, whose results are not kept; lines that are lost. */
const anyEnds = anyFacts.chain((facts) =>
  fc.infiniteStream(fc.nat(9)).map((picks) =>
    facts.flatMap((fact, place): Fact[] => {
      const pick = picks.next().value as number;
      if (fact.type === 'run.started' || fact.type === 'run.finished' || place === 0) return [fact];
      if (pick === 0) return [];
      if (fact.type === 'call.failed' && pick < 4) return [{ ...fact, denied: true }];
      if (fact.type !== 'call.completed' || pick > 5) return [fact];
      return pick < 3
        ? [{ ...fact, unusable: 'its command ended with status 3', ...(pick === 1 ? { exitCode: 3 } : {}) }]
        : [{ ...fact, unusable: 'recording is off here' }];
    }),
  ),
);

it('agrees on what was executed, reused and failed, in any run', async () => {
  await fc.assert(
    fc.asyncProperty(anyEnds, async (facts) => {
      const { store, file } = await recorded(facts);
      const { list, ...others } = await everyReport(store, file);
      for (const [name, counts] of Object.entries(others)) expect({ name, ...counts }).toEqual({ name, ...list });
    }),
    { numRuns: 200 },
  );
});

it('counts a failed command as failed, and a result that is not kept as executed', async () => {
  const unkept = call('main/ask#1', 'flow').map((fact): Fact =>
    fact.type === 'call.completed' ? { ...fact, unusable: 'recording is off here' } : fact,
  );
  const { store, file } = await recorded([started(runRef(1)), ...call('main/ask#0', 'ebb', { outcome: 'unusable' }), ...unkept]);
  for (const counts of Object.values(await everyReport(store, file)))
    expect(counts).toEqual({ executed: 1, reused: 0, failed: 1, denied: 0 });
});

it('counts a call that a guard had executed again once, by how it ended', async () => {
  const inside = call('main/ask#0/ask#0', 'again').map((fact): Fact =>
    fact.type === 'call.started' ? { ...fact, attempt: numberOfExecution(1, 2) } : fact,
  );
  const around = call('main/ask#0', 'ebb');
  const sentBack = inside.map((fact): Fact =>
    fact.type === 'call.completed' ? ({ ...fact, type: 'call.failed', message: 'a guard requested it', denied: true } as Fact) : fact,
  );
  const expected = { executed: 1, reused: 0, failed: 0, denied: 0 };
  for (const executions of [inside.slice(0, 2), sentBack, inside]) {
    const { store, file } = await recorded([started(runRef(1)), ...around.slice(0, 2), ...executions, ...around.slice(2)]);
    const { csv: _, otlp: __, ...counts } = await everyReport(store, file); // these have a row for each execution
    for (const [name, each] of Object.entries(counts)) expect({ name, ...each }).toEqual({ name, ...expected });
  }
});

it('says nowhere that unknown tokens and costs are 0', async () => {
  const { store, file } = await recorded([started(runRef(1)), ...call('main/ask#0', 'ebb')]);
  const unknown = { inputTokens: null, outputTokens: null, costUsd: null };
  const options = { nowMs: 0, onDefect: () => expect.unreachable() };
  const data = reportData(file.ref, await foldRun(store, file.ref, timeline), 'crashed');
  expect(data.total).toMatchObject(unknown);
  expect(data.functions).toMatchObject([unknown]);
  expect(data.spans.costUsd).toEqual([null]);
  expect((await auditRun(store, file, {}, () => undefined)).totals).toMatchObject(unknown);
  expect(await summariseRun(store, file, options)).toMatchObject(unknown);
});

it('marks what failed, and what a killed run left in flight, as errors in OpenTelemetry', async () => {
  const failed = call('main/ask#0', 'ebb', { outcome: 'failed' }).map((fact): Fact =>
    fact.type === 'call.failed' ? { ...fact, code: 'BODY_FAILED' } : fact,
  );
  const { store, file } = await recorded([
    started(runRef(1)),
    ...failed,
    ...call('main/ask#1', 'flow', { outcome: 'unusable' }),
    ...call('main/ask#2', 'slack', { outcome: 'killed' }),
    ...call('main/ask#3', 'neap'),
  ]);
  const spansOf = async (isRunning: boolean): Promise<unknown[]> => {
    const state = await foldRun(store, file.ref, timeline);
    return spansIn(file, state, isRunning).map((span) => [span.status.code, attribute(span, 'error.type')]);
  };
  /** The call, and its one attempt. */
  const both = (span: readonly unknown[]): readonly (readonly unknown[])[] => [span, span];
  expect(await spansOf(false)).toEqual([
    [2, 'crashed'],
    ...both([2, 'crash']),
    ...both([2, 'crash']),
    ...both([2, 'crashed']),
    ...both([1, undefined]),
  ]);
  expect(await spansOf(true)).toEqual([
    [undefined, undefined],
    ...both([2, 'crash']),
    ...both([2, 'crash']),
    ...both([undefined, undefined]),
    ...both([1, undefined]),
  ]);
});
