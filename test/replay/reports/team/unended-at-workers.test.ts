/** Calls that a worker had begun when it was killed: nobody knows what they cost. team-store.md 15, I2. */
import { expect, it } from 'vitest';
import type { Fact } from '../../../../journal/event.js';
import { opPath, seqOf } from '../../../../journal/ids.js';
import { openMemoryStore } from '../../../../journal/storage/memory-store.js';
import { auditRun } from '../../../../replay/reports/audit/audit-run.js';
import { postMortemOf } from '../../../../replay/reports/postmortem/postmortem-run.js';
import { renderConclusion } from '../../../../cli/render/reports/audit.js';
import { renderPostMortem } from '../../../../cli/render/reports/postmortem.js';
import { styleFor } from '../../../../cli/render/style.js';
import { call, callKeyOf, finished, JOB, runRef, started } from '../../../support/written-runs.js';

const PLAIN = styleFor(false);
/** The event of the worker that begins its second call. */
const BEGUN = seqOf(6);

function offered(number: number, text: string): Fact {
  return { type: 'call.offered', key: callKeyOf(text), op: opPath(`main/ask#${number}`), fn: 'ask' };
}

function ofWorker(name: string): Fact {
  return { ...started(runRef(1)), host: 'db7', worker: { for: runRef(1).run, name, lanes: {} } } as Fact;
}

/** The run offered two calls. The worker `hut` has ended the first and begun the second, which another worker has executed since. */
async function recorded({ later = [] as readonly Fact[], hasEnded = false } = {}) {
  const store = openMemoryStore();
  const runs: readonly (readonly Fact[])[] = [
    [
      started(runRef(1)),
      offered(0, 'ebb'),
      offered(1, 'flow'),
      ...call('main/ask#0', 'ebb', { outcome: 'reused' }),
      ...call('main/ask#1', 'flow', { outcome: 'reused' }),
      finished(),
    ],
    [ofWorker('hut'), ...call('main/ask#0', 'ebb'), ...call('main/ask#1', 'flow', { outcome: hasEnded ? 'completed' : 'killed' })],
    [ofWorker('mill'), ...call('main/ask#1', 'flow'), { ...finished(), worker: { for: runRef(1).run, name: 'mill' } } as Fact],
    ...(later.length === 0 ? [] : [later]),
  ];
  for (const [number, facts] of runs.entries()) {
    const journal = await store.create(runRef(number + 1));
    for (const fact of facts) await journal.append(fact);
    await journal.close();
  }
  const [file] = await store.runs(JOB);
  if (file === undefined) throw new Error('no run');
  const conclusion = await auditRun(store, file, {}, () => undefined);
  return { conclusion, report: await postMortemOf(store, file, { nowMs: 0, onDefect: () => undefined }) };
}

it('are named in the audit and the post-mortem of the run that had offered them, although another worker executed them since', async () => {
  const { conclusion, report } = await recorded();
  expect(conclusion.team.unended).toEqual([
    expect.objectContaining({
      worker: 'hut',
      host: 'db7',
      run: runRef(2).run,
      seq: BEGUN,
      fn: 'ask',
      key: callKeyOf('flow'),
      preview: 'flow',
    }),
  ]);
  expect(report.team).toEqual(conclusion.team);
  const line = `1 call begun by workers that ended before the call did, which may have cost something: @ask(flow) at hut on db7 in run ${runRef(2).run}`;
  const asOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');
  expect(asOneLine(renderConclusion(conclusion, PLAIN))).toContain(line);
  expect(asOneLine(renderPostMortem(report, PLAIN))).toContain(line);
});

it('are none where the worker has recorded the end', async () => {
  const { conclusion, report } = await recorded({ hasEnded: true });
  expect(conclusion.team.unended).toEqual([]);
  expect(report.team.unended).toEqual([]);
});

it('are none where the run of the worker was sealed, and its end was salvaged', async () => {
  const begun = { run: runRef(2).run, seq: BEGUN };
  const salvaged = call('main/ask#1', 'flow').map((fact) => (fact.type === 'call.started' ? { ...fact, begun } : fact));
  const { conclusion } = await recorded({ later: [{ ...started(runRef(4)), salvages: runRef(2).run } as Fact, ...salvaged] });
  expect(conclusion.team.unended).toEqual([]);
});
