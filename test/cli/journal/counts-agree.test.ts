/** `journal list`, `stats`, `audit`, `report`, `postmortem`, `diff` and the exports count the calls of a real run alike. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Fact, JournalEvent } from '../../../journal/event.js';
import { runIdAt, startOf } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { JOB, runRef, started } from '../../support/written-runs.js';

const SCRIPT = `exe llm @good(q) = js { return q }
exe llm @sick(q) = sh { echo "$q"; exit 3 } with { onFailure: "value" }
exe llm @loud(q) = js { throw new Error("no " + q) }
exe llm @shut(q) = when [
  denied => "shut"
  * => run sh { echo open }
]
guard before op:run = when [ * => deny "not today" ]
var @a = for @q in ["x", "y"] => @good(@q)
var @b = @sick("x")
var @c = @shut("x")
var @d = @loud("u")
`;

interface Counts {
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
  readonly denied: number;
}

it.each([[1], [2]])('run %i of a script with calls that fail in every way', async (number) => {
  const cwd = await projectFolder({ 'job.mld': SCRIPT });
  for (let run = 0; run < number; run++) await callCli(['job.mld', '--checkpoint'], { cwd });
  const json = async (...argv: string[]): Promise<unknown> =>
    JSON.parse((await callCli(['journal', ...argv, '--json'], { cwd })).stdout) as unknown;
  const counts = ({ executed, reused, failed, denied }: Counts): Counts => ({ executed, reused, failed, denied });
  const [listed] = (await json('list')) as [Counts & { run: string }];
  expect(counts(listed)).toEqual(
    number === 1 ? { executed: 2, reused: 0, failed: 2, denied: 1 } : { executed: 0, reused: 2, failed: 2, denied: 1 },
  );
  const { run } = listed;
  const { audit, report } = {
    audit: (await json('audit', run)) as { totals: Counts },
    report: (await json('report', run)) as { total: Counts & { costUsd: unknown; inputTokens: unknown; outputTokens: unknown } },
  };
  expect(counts(audit.totals)).toEqual(counts(listed));
  expect(counts(report.total)).toEqual(counts(listed));
  expect(report.total).toMatchObject({ costUsd: null, inputTokens: null, outputTokens: null });
  expect(counts((await json('postmortem', run)) as Counts)).toEqual(counts(listed));
  expect(counts(((await json('diff', run, run)) as { left: Counts }).left)).toEqual(counts(listed));
  expect(((await json('stats')) as { total: Counts }).total.failed).toBe(2 * number);
  const { stdout: shown } = await callCli(['journal', 'show', run], { cwd });
  expect(shown).toContain(
    `(${listed.executed} executed, ${listed.reused} reused, ${listed.failed} failed (1 of them accepted), ${listed.denied} denied)`,
  );
  const { stdout: csv } = await callCli(['journal', 'export', run, '--format', 'csv'], { cwd });
  const outcomes = csv
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',')[4]);
  expect(outcomes.filter((outcome) => outcome === 'failed' || outcome === 'denied')).toHaveLength(3);
  const { stdout: otlp } = await callCli(['journal', 'export', run, '--format', 'otlp-json'], { cwd });
  expect(otlp).toContain('{"key":"error.type","value":{"stringValue":"crash"}}');
  expect(otlp).toContain('{"key":"error.type","value":{"stringValue":"DENIED"}}');
});

/** Fails the first time. */
const ONCE = `exe llm @ask(q) = node {
  const fs = require("fs");
  if (!fs.existsSync("ok")) { fs.writeFileSync("ok", ""); mlld.fail("content", "no"); }
  return q;
}
`;

it.each<readonly [string, string, string, string]>([
  [
    'a failed attempt that its stage makes again',
    'job.dot',
    'digraph job {\n  start [shape=Mdiamond]\n  done [shape=Msquare]\n' +
      '  work [prompt="tide", max_retries=2, backend="cmd:[ -f ok ] || { touch ok; exit 3; }; echo high"]\n  start -> work -> done\n}\n',
    '1 call, 0 reused, 1 executed',
  ],
  [
    'a failed call that is made again later',
    'job.mld',
    `${ONCE}var @one = for parallel(1) @q in ["x"] => @ask(@q)\nvar @all = for parallel(1) @q in ["x", "y"] => @ask(@q)\nshow @all.length\n`,
    '2 calls, 0 reused, 2 executed',
  ],
  [
    'a failed call beside an equal one that has a result',
    'job.mld',
    `${ONCE}var @all = for parallel(1) @q in ["x", "x", "y"] => @ask(@q)\nshow @all.length\n`,
    '3 calls, 0 reused, 2 executed, 1 failed',
  ],
])('explains no more calls than the run counts: %s', async (_, name, text, counted) => {
  const cwd = await projectFolder({ [name]: text });
  const argv = name.endsWith('.dot') ? ['run', name] : [name, '--checkpoint'];
  const status = counted.includes('failed') ? 4 : 0;
  expect(await callCli(argv, { cwd })).toMatchObject({ status, stderr: expect.stringContaining(`${counted.split(',')[0]}: `) });
  const { stdout } = await callCli(['journal', 'explain', name], { cwd });
  expect(stdout.split('\n')[0]?.endsWith(`: ${counted}`)).toBe(true);
});

it.each<readonly [string, string, string, number]>([
  [
    'a stage makes a failed attempt again',
    'job.dot',
    'digraph job {\n  start [shape=Mdiamond]\n  done [shape=Msquare]\n' +
      '  work [prompt="tide", max_retries=2, backend="cmd:[ -f ok ] || { touch ok; exit 3; }; echo high"]\n  start -> work -> done\n}\n',
    1,
  ],
  [
    'a failed call is made again later',
    'job.mld',
    `${ONCE}var @one = for parallel(1) @q in ["x"] => @ask(@q)\nvar @all = for parallel(1) @q in ["x", "y"] => @ask(@q)\nshow @all.length\n`,
    2,
  ],
  [
    'an equal call beside a failed one has a result',
    'job.mld',
    `${ONCE}var @all = for parallel(1) @q in ["x", "x", "y"] => @ask(@q)\nshow @all.length\n`,
    3,
  ],
])('compares no more calls than the run counts, where %s', async (_, name, text, number) => {
  const cwd = await projectFolder({ [name]: text });
  const argv = name.endsWith('.dot') ? ['run', name] : [name, '--checkpoint', '--new'];
  await callCli(argv, { cwd });
  const [first] = JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout) as { run: string }[];
  await fs.rm(path.join(cwd, 'ok'));
  await callCli(argv, { cwd });
  const [again] = JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout) as { run: string }[];
  const { stdout } = await callCli(['journal', 'diff', first?.run ?? '', again?.run ?? '', '--json'], { cwd });
  const failed = number === 3 ? 1 : 0;
  const side = { calls: number, executed: number - failed, failed };
  expect(JSON.parse(stdout)).toMatchObject({ left: side, right: side, calls: { same: number, onlyLeft: [], onlyRight: [] } });
});

it('counts a call that a failure inside it ends in @mx.usage as in the journal', async () => {
  const script =
    'exe llm @inner(q) = js { if (q === "b") mlld.fail("content", "no"); return q }\nexe llm @outer(q) = [ => @inner(@q) ]\n' +
    'var @r = for parallel @q in ["a", "b", "c"] => @outer(@q)\nshow `@mx.usage.calls @mx.usage.executed @mx.usage.failed`\n';
  const cwd = await projectFolder({ 'job.mld': script });
  expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 4, stdout: '6 4 2\n' });
  expect(JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout)).toMatchObject([{ executed: 4, failed: 2 }]);
  expect(await callCli(['job.mld'], { cwd })).toMatchObject({ status: 4, stdout: '6 4 2\n' });
});

it('reads the counts of a run of an older program from its events, which counted a failed command as executed', async () => {
  const cwd = await projectFolder({ 'job.mld': SCRIPT });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  const folder = path.join(cwd, '.mlld/journal/job.mld/runs');
  const [name] = await fs.readdir(folder);
  const text = await fs.readFile(path.join(folder, name as string), 'utf8');
  const journal = await openFileStore(cwd).create(runRef(1));
  for (const line of text.trim().split('\n')) {
    const { v: _v, seq: _s, ts: _t, hash: _h, ...fact } = JSON.parse(line) as JournalEvent;
    await journal.append(asBefore(fact));
  }
  await journal.close();
  await fs.rm(path.join(folder, name as string));
  const [listed] = JSON.parse((await callCli(['journal', 'list', '--json'], { cwd })).stdout) as [Counts & { status: string }];
  expect(listed).toMatchObject({ executed: 2, reused: 0, failed: 2, denied: 1, status: 'failed' });
});

/** Returns a fact as it was recorded before calls failed in classes. */
function asBefore(fact: Fact): Fact {
  if (fact.type === 'run.finished') return { ...fact, totals: { executed: 4, reused: 0, failed: 1 } };
  if (fact.type === 'call.failed') {
    const { class: _, ...others } = fact;
    return others;
  }
  if (fact.type !== 'call.completed' || fact.class === undefined) return fact;
  const { class: _, exitCode: __, ...others } = fact;
  return { ...others, unusable: 'its command ended with status 3' };
}

it('says the same of how long a run took', async () => {
  const cwd = await projectFolder({ 'job.mld': 'exe llm @ask(q) = js { return q }\nshow @ask("ebb")\n' });
  await callCli(['job.mld', '--checkpoint'], { cwd });
  const json = async (...argv: string[]): Promise<unknown> =>
    JSON.parse((await callCli(['journal', ...argv, '--json'], { cwd })).stdout) as unknown;
  const [{ run, durationMs }] = (await json('list')) as [{ run: string; durationMs: number }];
  expect(durationMs).toBeGreaterThan(0);
  expect(await json('diff', run, run)).toMatchObject({ left: { durationMs }, right: { durationMs } });
  expect(await json('stats')).toMatchObject({ total: { medianMs: durationMs, slowestMs: durationMs } });
  expect(await json('postmortem', run)).toMatchObject({ durationMs });
});

it.each([
  ['behind', 3_600_000],
  ['ahead of', -3_600_000],
])('says the same of a run whose machine has a clock an hour %s that of the store, which made its id', async (_, aheadMs) => {
  const cwd = await projectFolder({ 'job.mld': 'show "ebb"\n' });
  const ref = { workflow: JOB, run: runIdAt(Date.now() + aheadMs, '0000') };
  const journal = await openFileStore(cwd).create(ref);
  const first = await journal.append(started(ref));
  const last = await journal.append({
    type: 'run.finished',
    status: 'completed',
    totals: { executed: 0, reused: 0, failed: 0, attempts: 0 },
  });
  await journal.close();
  const durationMs = Date.parse(last.ts) - Date.parse(first.ts);
  const json = async (...argv: string[]): Promise<unknown> =>
    JSON.parse((await callCli(['journal', ...argv, '--json'], { cwd })).stdout) as unknown;
  const startedMs = startOf(ref.run);
  expect(await json('list')).toMatchObject([{ durationMs, started: new Date(startedMs).toISOString() }]);
  expect(await json('diff', ref.run, ref.run)).toMatchObject({ left: { durationMs } });
  expect(await json('stats')).toMatchObject({ total: { slowestMs: durationMs } });
  expect(await json('postmortem', ref.run)).toMatchObject({ durationMs, startedMs });
});
