/** A pipeline continues with a journal of which any one line can't be read, and pays for no readable result again. */
import { afterEach, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { recordPipeline, resumeWith, tideIsOut, type RecordedPipeline } from '../../support/recorded-pipeline.js';
import { pipeline, type Workshop } from '../../support/pipeline-run.js';

const BACKEND = 'graph [backend="paid:it"]';
const ROW = pipeline('b [prompt="B"]; t [type=work]; c [prompt="C"]; z [type=last]; start -> b -> t -> c -> z -> exit', BACKEND);
const BRANCHES = pipeline(
  `fan [shape=component, max_parallel=1]; l1 [prompt="L1"]; l2 [type=work]; r1 [prompt="R1"]
   meet [shape=tripleoctagon]; look [shape=diamond]; again [prompt="Again"]; z [type=last]
   start -> fan; fan -> l1 -> l2 -> meet; fan -> r1 -> meet; meet -> look -> again
   again -> look [condition="context.laps!=done"]; again -> z [condition="context.laps=done"]; z -> exit`,
  BACKEND,
);

const places: Workshop[] = [];
afterEach(() => places.splice(0).forEach((place) => place.remove()));

/** One byte in the middle of a line is another one. */
function flipped(lines: readonly string[], line: number): string {
  const written = lines[line] as string;
  const at = Math.floor(written.length / 2);
  const damaged = `${written.slice(0, at)}${written[at] === '#' ? '=' : '#'}${written.slice(at + 1)}`;
  return `${lines.with(line, damaged).join('\n')}\n`;
}

/**
 * The commands that may run once more when this line can't be read: where the end of a stage is lost, it and those behind it on its walk.
 */
function mayWorkAgain(event: JournalEvent, events: readonly JournalEvent[]): ReadonlySet<string> {
  // A branch whose parallel node has ended is over, whatever is lost of it.
  if (event.type !== 'node.finished' || event.branch !== undefined) return new Set();
  const behind = events.filter(({ seq }) => seq >= event.seq);
  return new Set(behind.flatMap((later) => (later.type === 'node.finished' ? [`${later.node}#${later.visit}`] : [])));
}

/** Returns what is wrong with a resume of a journal with a damaged line; nothing if a failed stage is executed again. */
async function troubleWith(recorded: RecordedPipeline, lines: readonly string[], at: number): Promise<readonly string[]> {
  const event = recorded.events[at] as JournalEvent;
  const { status, said, again } = await resumeWith(recorded, flipped(lines, at));
  const may = mayWorkAgain(event, recorded.events);
  const worked = [...again.tools.keys()].filter((name) => !may.has(name) && !name.startsWith('z#'));
  return [
    ...(status === 'completed' ? [] : [`it ${status}: ${said}`]),
    ...(again.models.size === 0 ? [] : [`paid again for ${[...again.models.keys()].join(', ')}`]),
    ...(worked.length === 0 ? [] : [`worked again: ${worked.join(', ')}`]),
    ...(said.includes("can't be read") ? [] : [`nothing is said but ${said}`]),
  ].map((trouble) => `line ${at + 1}, ${event.type} ${'op' in event ? event.op : ''}: ${trouble}`);
}

describe.each([
  ['a row of stages that failed', ROW, undefined],
  ['branches and a loop that died', BRANCHES, 'main/z#0'],
])('%s', (_, text, diedIn) => {
  it('continues whichever line is damaged, and executes only what that line was the end of', { timeout: 240_000 }, async () => {
    const recorded = await recordPipeline(text, tideIsOut, places);
    expect(new Set(recorded.ran.models.values())).toEqual(new Set([1]));
    const last = recorded.events.findIndex((event) => event.type === 'node.started' && event.op === diedIn);
    const lines = last < 0 ? recorded.lines : recorded.lines.slice(0, last + 1);
    const trouble: string[] = [];
    for (const at of lines.keys()) trouble.push(...(await troubleWith(recorded, lines, at)));
    expect(trouble).toEqual([]);
  });
});

it('has nothing to do where a completed run is damaged in its middle', async () => {
  const recorded = await recordPipeline(ROW, async () => undefined, places);
  const at = recorded.events.findIndex((event) => event.type === 'node.finished' && event.node === 'b');
  const { report, again } = await resumeWith(recorded, flipped(recorded.lines, at));
  expect(report.notice).toContain('is completed');
  expect(again.models.size + again.tools.size).toBe(0);
});

it('says what it costs that the end of a stage can not be read, and how to continue', async () => {
  const recorded = await recordPipeline(ROW, tideIsOut, places);
  const at = recorded.events.findIndex((event) => event.type === 'node.finished' && event.node === 't');
  const { said, again } = await resumeWith(recorded, flipped(recorded.lines, at));
  expect(said).toContain('the end of t is lost, so it runs again');
  expect(said).toContain('mlld run p.dot --resume');
  expect([...again.tools.keys()]).toEqual(['t#0', 'z#0']);
});

it('says which stage runs again where the run died in it and what can not be read is of it, perhaps its reply', async () => {
  const recorded = await recordPipeline(ROW, tideIsOut, places);
  const at = recorded.events.findLastIndex((event) => event.type === 'call.completed');
  const { op } = recorded.events[at] as { op: string };
  const node = /main\/(\w+)#/.exec(op)?.[1];
  const { said } = await resumeWith(recorded, flipped(recorded.lines.slice(0, at + 2), at));
  expect(said).toContain(`it is of ${node}, whose end can't be read either, so ${node} runs again`);
  expect(said).not.toContain('no recorded result that is needed is lost');
});

it('refuses to continue a resumed run whose beginning can not be read, and says what begins anew', async () => {
  const recorded = await recordPipeline(ROW, tideIsOut, places);
  const withoutContext = recorded.lines.filter((_, at) => recorded.events[at]?.type !== 'context.updated');
  const { report } = await resumeWith(recorded, `${withoutContext.slice(1).join('\n')}\n`);
  expect(report.error).toMatchObject({ code: 'RESUME_DAMAGED', hint: expect.stringContaining('mlld run p.dot --checkpoint') as string });
});
