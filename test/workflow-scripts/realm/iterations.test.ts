/** The elements of `parallel` and `pipeline` as iterations in the journal: progress and post-mortems count them. workflows-js.md 11. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import type { RunId, Workflow } from '../../../journal/ids.js';
import { postMortem, type PostMortem } from '../../../replay/reports/postmortem/postmortem.js';
import { aheadInLoops } from '../../../replay/reports/postmortem/resume-estimate.js';
import { summary } from '../../../replay/reports/summary/summary.js';
import { runScript } from '../run-script.js';

const META = `export const meta = { name: 'job', description: 'x' }\n`;
const PLACE = {
  ref: { workflow: 'job.js' as Workflow, run: '20260101-000000-000-0001' as RunId },
  position: { offset: 0, bytes: 0 },
};

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'mlld-iterations-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Runs the script with a journal, and returns its events. */
async function eventsOf(
  body: string,
  { hooks = '', ...more }: Parameters<typeof runScript>[1] & { hooks?: string } = {},
): Promise<readonly JournalEvent[]> {
  writeFileSync(join(root, 'job.js'), META + body);
  writeFileSync(join(root, 'hooks.mld'), hooks);
  await runScript(root, { cache: { checkpoint: true }, ...more, ...(hooks !== '' && { agent: { hooks: 'hooks.mld' } }) });
  const journal = join(root, '.mlld', 'journal');
  const file = readdirSync(journal, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.ndjson')) ?? '';
  const lines = readFileSync(join(journal, file), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as JournalEvent);
}

const iterations = (events: readonly JournalEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.type === 'op.started') return event.kind.endsWith(':iteration') ? [`${event.kind} ${event.op}`] : [];
    return event.type === 'op.finished' && event.op.endsWith(']') ? [`${event.outcome} ${event.op} ${event.message ?? ''}`.trim()] : [];
  });

const stateAfter = (events: readonly JournalEvent[]): PostMortem =>
  events.reduce((before, event) => postMortem.apply(before, event, PLACE), postMortem.initial());

it('counts the elements that have ended, so that progress shows how far the run is', async () => {
  const events = await eventsOf(`await pipeline(['a', 'b', 'c'], (item) => agent(item), (before) => agent('again ' + before))\n`);
  const told: string[] = [];
  let state = summary.initial();
  for (const event of events) {
    state = summary.apply(state, event, PLACE);
    const [loop] = state.loops.values();
    const line = loop && `${loop.done}/${loop.total}`;
    if (line !== undefined && told.at(-1) !== line) told.push(line);
  }
  expect(told).toEqual(['0/3', '1/3', '2/3', '3/3']);
});

it('ends an element whose function failed with its error, and no other', async () => {
  const events = await eventsOf(`await parallel([() => agent('a'), () => { throw new Error('no berth') }])\n`);
  expect([...iterations(events)].sort()).toEqual([
    expect.stringMatching(/^failed main\/parallel#0\[1\] .*no berth/),
    'ok main/parallel#0[0]',
    'parallel:iteration main/parallel#0[0]',
    'parallel:iteration main/parallel#0[1]',
  ]);
});

it('ends the elements that go on when an error ends the script', async () => {
  const events = await eventsOf(`parallel([() => new Promise(() => {}), () => agent('a')])\nawait agent('b')\nthrow new Error('stop')\n`);
  expect(iterations(events)).toContainEqual(expect.stringMatching(/^failed main\/parallel#0\[0\] .*The run was interrupted/));
});

it('counts no element as failed that Ctrl-C ended, and those that had asked nothing as still to come', async () => {
  const stop = new AbortController();
  const asks = `for (const n of [1, 2]) await agent('first ' + n)\n`;
  const waits = `await parallel([1, 2, 3, 4].map((n) => async () => { if (n > 2) await new Promise((go) => setTimeout(go, 60_000)); return agent('ask ' + n) }))\n`;
  setTimeout(() => stop.abort(), 2000);
  const events = await eventsOf(asks + waits, { signal: stop.signal });
  const state = stateAfter(events);
  expect([...state.failures.values()]).toEqual([]);
  expect(aheadInLoops(state)).toEqual(new Map([['agent', 2]]));
});

it('ends no operation behind the one around it when the run is paused', async () => {
  const events = await eventsOf(`await parallel([1, 2, 3].map((n) => () => parallel([() => agent('ask ' + n)])))\n`, {
    backend: 'cmd:exit 77',
  });
  const ended = events.flatMap((event) => (event.type === 'op.finished' ? [event.op] : []));
  expect(ended).toContain('main/parallel#0');
  expect(
    ended.filter((op, place) => ended.slice(0, place).some((earlier) => op.startsWith(`${earlier}/`) || op.startsWith(`${earlier}[`))),
  ).toEqual([]);
});

it('begins each element behind the hooks on it', async () => {
  const hooks = 'hook @h before op:parallel:iteration = [ show "began" ]\n';
  const events = await eventsOf(`return await parallel([() => agent('a'), () => agent('b')])\n`, { hooks });
  expect(events.filter(({ type }) => type === 'call.completed')).toHaveLength(2);
  expect(events.filter(({ type }) => type === 'hook.fired')).toHaveLength(2);
});

it('gives null for an element that a guard denies, and does the work of the others', async () => {
  const hooks = `exe @isFirst() = sh { mkdir ${join(root, 'first')} 2> /dev/null && echo yes || echo no }
guard @one before op:parallel:iteration = when [
  @isFirst() == "yes" => deny "no berth"
  * => allow
]
`;
  const body = `const all = await parallel([1, 2, 3].map((n) => () => agent('ask ' + n)))\nlog('lost ' + all.filter((one) => one === null).length)\n`;
  const events = await eventsOf(body, { hooks });
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', status: 'completed' });
  expect(events.filter(({ type }) => type === 'call.completed')).toHaveLength(2);
  expect(iterations(events).filter((line) => line.startsWith('denied'))).toHaveLength(1);
  const written = events.flatMap((event) => (event.type === 'effect.performed' && event.kind === 'stream.write' ? [event.subject] : []));
  expect(written.join('\n')).toContain('lost 1');
});

it('gives null for an element that a guard denies when its work has ended', async () => {
  const hooks = 'guard @one after op:pipeline:iteration = when [ * => deny "no berth" ]\n';
  const body = `const all = await pipeline([1, 2], (n) => agent('ask ' + n))\nlog('lost ' + all.filter((one) => one === null).length)\n`;
  const events = await eventsOf(body, { hooks });
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', status: 'completed' });
  expect(iterations(events).filter((line) => line.startsWith('denied'))).toHaveLength(2);
  const written = events.flatMap((event) => (event.type === 'effect.performed' && event.kind === 'stream.write' ? [event.subject] : []));
  expect(written.join('\n')).toContain('lost 2');
});

it('returns the result of a script that does not wait for its elements, though hooks on them take longer', async () => {
  const hooks = 'exe @late() = sh { sleep 0.2 }\nhook @h before op:parallel:iteration = [ let @done = @late() ]\n';
  const events = await eventsOf(`parallel([() => agent('a'), () => agent('b')])\nreturn 1\n`, { hooks });
  expect(events.at(-1)).toMatchObject({ type: 'run.finished', status: 'completed' });
  expect(iterations(events)).toHaveLength(4);
});

describe('a run that is ended while agents wait for a slot', () => {
  /** Two agents have answered, two are asked, and four wait. */
  async function stoppedEvents(): Promise<readonly JournalEvent[]> {
    writeFileSync(join(root, 'ask.sh'), 'read -r prompt\ncase "$prompt" in slow*) : > "asked $prompt"; sleep 60;; esac\necho "$prompt"\n');
    const stop = new AbortController();
    const looking = setInterval(() => {
      if (readdirSync(root).filter((name) => name.startsWith('asked ')).length < 2) return;
      clearInterval(looking);
      stop.abort();
    }, 20);
    const body = `await parallel(['a', 'b', 'slow 1', 'slow 2', 'slow 3', 'slow 4', 'slow 5', 'slow 6'].map((text) => () => agent(text)))\n`;
    return eventsOf(body, { signal: stop.signal, backend: 'cmd:sh ask.sh', parallel: 2 });
  }

  it('counts those as still to come after Ctrl-C, and ends an element behind the agents in it', async () => {
    const events = await stoppedEvents();
    expect(aheadInLoops(stateAfter(events))).toEqual(new Map([['agent', 4]]));
    const ended = events.flatMap((event) => (event.type === 'op.finished' ? [event.op as string] : []));
    const isNested = ended.every((op, at) => !ended.slice(0, at).some((before) => op.startsWith(`${before}/`)));
    expect(isNested).toBe(true);
  });

  it('counts those as still to come where the process was killed', async () => {
    const events = await stoppedEvents();
    const killed = events.slice(
      0,
      events.findIndex((event) => event.type === 'op.finished' && event.outcome === 'failed'),
    );
    expect(aheadInLoops(stateAfter(killed))).toEqual(new Map([['agent', 4]]));
  });
});
