import fs from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { Fact, Json } from '../../../journal/event.js';
import { opPath, runIdAt, type RunRef } from '../../../journal/ids.js';
import { openDeleter } from '../../../journal/upkeep/delete-runs.js';
import { rewriteRun } from '../../../journal/upkeep/rewrite.js';
import { loadWorkflow } from '../../../replay/memo/load.js';
import { usableEntry } from '../../../replay/memo/memo.js';
import { redactEvent } from '../../../replay/upkeep/redaction.js';
import { verifyRun } from '../../../replay/reports/audit/verify.js';
import { redactionRequest } from '../../../src/session/upkeep/redaction-request.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { recordRun } from '../../support/recorded-project.js';
import { call, inside, JOB, callKeyOf } from '../../support/written-runs.js';

const SECRET = 'tide-token-4711';
const onDefect = (): void => expect.unreachable();

/** Everything that lies in the journal, but for the project's key. */
async function everything(cwd: string): Promise<string> {
  const files = globSync('.mlld/journal/**/*', { cwd, dot: true, absolute: true });
  return (await Promise.all(files.map((file) => fs.readFile(file, 'latin1')))).join('\n');
}

/** A run that has the secret in a source, an argument, a result, a large result, a command and a failure. */
async function project(): Promise<{ readonly cwd: string; readonly ref: RunRef }> {
  const cwd = await projectFolder();
  const store = openFileStore(cwd);
  const { blob } = await store.putBlob(`var @token = "${SECRET}"`);
  const large = await store.payload(`${'x'.repeat(100_000)} ${SECRET}`);
  const op = opPath('main/run#0');
  const ref = await recordRun(
    cwd,
    1,
    [{ type: 'source.loaded', path: 'job.mld', blob, role: 'script' }],
    call('main/ask#0', `use ${SECRET}`),
    call('main/ask#1', 'ebb'),
    call('main/ask#2', 'flow').map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result: large } : fact)),
    inside('main/run#0', { kind: 'run' }, [
      { type: 'effect.performed', op, kind: 'shell', subject: `curl -H ${SECRET}`, request: 'r', result: { inline: { [SECRET]: 1 } } },
    ]),
    inside('main/for#0', { kind: 'for:iteration', item: `item ${SECRET}` }, []),
  );
  return { cwd, ref };
}

describe('mlld journal redact --match', () => {
  it('leaves no part of a match at the end of the first words of long arguments', async () => {
    const cwd = await projectFolder();
    const text = `${'x'.repeat(250)}${SECRET}${'y'.repeat(70_000)}`;
    const args = await openFileStore(cwd).payload([text]);
    const long = call('main/ask#0', 'long').map((fact): Fact =>
      fact.type === 'call.started' ? { ...fact, args, preview: text.slice(0, 256) } : fact,
    );
    await recordRun(cwd, 1, long, call('main/ask#1', 'ebb'));
    expect(await everything(cwd)).toContain(SECRET.slice(0, 6));
    await callCli(['journal', 'redact', 'job', '--match', SECRET], { cwd });
    expect(await everything(cwd)).not.toContain(SECRET.slice(0, 6));
    expect((await callCli(['journal', 'verify', 'job'], { cwd })).status).toBe(0);
    expect((await callCli(['checkpoint', 'list', 'job'], { cwd })).stdout).toContain('- ask | ebb\n');
  });

  it('leaves no occurrence anywhere, and a run that verifies', async () => {
    const { cwd, ref } = await project();
    await loadWorkflow(openFileStore(cwd), JOB, { onDefect });
    expect(await everything(cwd)).toContain(SECRET);
    const dry = await callCli(['journal', 'redact', 'job', '--match', SECRET, '--dry-run'], { cwd });
    expect(dry.stdout).toMatch(/^Would change 6 events of /);
    expect(await everything(cwd)).toContain(SECRET);
    const { stdout } = await callCli(['journal', 'redact', 'job', '--match', SECRET, '--json'], { cwd });
    expect(JSON.parse(stdout)).toEqual({
      run: ref.run,
      serving: [],
      dryRun: false,
      events: 6,
      results: 2,
      blobs: 2,
      blobsLeft: null,
      sharedBlobs: [],
      unread: [],
      vacuum: null,
    });
    expect(await everything(cwd)).not.toContain(SECRET);
    expect(await verifyRun(openFileStore(cwd), ref)).toMatchObject({ ok: true, violations: [] });
    expect(await callCli(['journal', 'verify', 'job'], { cwd })).toMatchObject({ status: 0 });
    expect(await callCli(['journal', 'show', 'job'], { cwd })).toMatchObject({ status: 0, stderr: '' });
  });

  it('keeps what had nothing to do with it, and asks again only what was taken out', async () => {
    const { cwd } = await project();
    await callCli(['journal', 'redact', 'job', '--match', SECRET], { cwd });
    const { memo } = await loadWorkflow(openFileStore(cwd), JOB, { onDefect });
    expect(usableEntry(memo, callKeyOf('ebb'))).toBeDefined();
    expect(usableEntry(memo, callKeyOf('flow'))).toBeUndefined();
  });

  it('removes every occurrence, whatever is around it', async () => {
    const needle = 'Ж7';
    const withNeedle = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([before, after]) => `${before}${needle}${after}`);
    const value: fc.Arbitrary<Json> = fc.oneof(
      withNeedle,
      fc.array(withNeedle, { maxLength: 2 }),
      fc.dictionary(withNeedle, fc.integer(), { maxKeys: 2 }),
      withNeedle.map((text) => ({ deep: [{ text }] })),
      fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 4 }), value, fc.boolean(), async (values, payload, large) => {
        const cwd = await projectFolder();
        const store = openFileStore(cwd);
        const facts = [];
        for (const [n, each] of values.entries()) {
          const result = await store.payload(large ? { each, filling: 'x'.repeat(70_000) } : each);
          facts.push(...call(`main/ask#${n}`, each).map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result } : fact)));
        }
        const given: Fact = { type: 'memo.invalidated', selector: `@ask("${JSON.stringify(payload)}")`, keys: [] };
        const ref = await recordRun(cwd, 1, facts, [given]);
        await runRedaction(cwd, ref, new RegExp(needle, 'gu'));
        expect(Buffer.from(await everything(cwd), 'latin1').toString()).not.toContain(needle);
        expect((await verifyRun(openFileStore(cwd), ref)).violations.filter(({ rule }) => rule !== 'V5')).toEqual([]);
        await fs.rm(cwd, { recursive: true });
      }),
      { numRuns: 40 },
    );
  });

  it('says which contents stay because another run has them', async () => {
    const { cwd } = await project();
    const large = await openFileStore(cwd).payload(`${'x'.repeat(100_000)} ${SECRET}`);
    const other = call('main/ask#0', 'neap').map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, result: large } : fact));
    await recordRun(cwd, 2, other);
    const { stdout } = await callCli(['journal', 'redact', 'job@2', '--match', SECRET, '--json'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ blobs: 1, sharedBlobs: ['blob' in large ? large.blob : ''] });
    await callCli(['journal', 'redact', 'job@1', '--match', SECRET], { cwd });
    expect(await everything(cwd)).not.toContain(SECRET);
  });
});

/** The command's steps without its start-up. */
async function runRedaction(cwd: string, ref: RunRef, match: RegExp): Promise<void> {
  const store = openFileStore(cwd);
  const wish = await redactionRequest(store, ref, { ops: undefined, match, reason: 'gone' });
  await rewriteRun(cwd, ref, (event) => redactEvent(event, wish), { at: '2026-11-21T09:00:00.000Z', reason: 'gone' });
  const deleter = openDeleter(cwd);
  await deleter.trash([...wish.blobs]);
  await deleter.deleteTrashed([...wish.blobs]);
}

describe('mlld journal redact --op', () => {
  it('takes out all that an operation was given and gave back, and nothing else', async () => {
    const { cwd, ref } = await project();
    await callCli(['journal', 'redact', 'job', '--op', 'main/run#0', '--reason', 'asked by customer'], { cwd });
    const text = await everything(cwd);
    expect(text).not.toContain('curl');
    expect(text).toContain(`use ${SECRET}`);
    expect(text).toContain('asked by customer');
    expect(await verifyRun(openFileStore(cwd), ref)).toMatchObject({ ok: true });
    const { stdout } = await callCli(['journal', 'show', 'job', '--op', 'main/run#0', '--json'], { cwd });
    expect(JSON.parse(stdout.split('\n')[1] as string)).toMatchObject({
      kind: 'shell',
      subject: '[redacted]',
      result: { redacted: 'asked by customer' },
    });
  });
});

describe('mlld journal redact', () => {
  it('names the lines that it left as they are because they can not be read, before anything is changed as well', async () => {
    const { cwd, ref } = await project();
    const file = path.join(cwd, `.mlld/journal/${JOB}/runs/${ref.run}.ndjson`);
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    const hurt = lines.findIndex((line) => line.includes('"type":"call.started"') && line.includes(SECRET));
    lines[hurt] = (lines[hurt] as string).replace('"fn":"ask"', '"fn":"asq"');
    await fs.writeFile(file, `${lines.join('\n')}{"v":1,"cut":"${SECRET}`);
    const unread = [
      { run: ref.run, line: hurt + 1, message: 'a line changed or damaged since written' },
      { run: ref.run, line: lines.length, message: expect.stringContaining('incomplete') },
    ];
    const dry = await callCli(['journal', 'redact', 'job', '--match', SECRET, '--dry-run', '--json'], { cwd });
    expect(JSON.parse(dry.stdout)).toMatchObject({ events: 5, unread });
    const { status, stderr } = await callCli(['journal', 'redact', 'job', '--match', SECRET], { cwd });
    expect(status).toBe(0);
    expect(stderr).toContain(
      `warning: run ${ref.run}, line ${hurt + 1}: a line changed or damaged since written; it is left as it is, and may`,
    );
    expect(stderr).toContain(`delete the file of the run, which has its id as name`);
    expect((await fs.readFile(file, 'utf8')).split(SECRET)).toHaveLength(3);
    const again = await callCli(['journal', 'redact', 'job', '--match', SECRET, '--json'], { cwd });
    expect(JSON.parse(again.stdout)).toMatchObject({ events: 0, unread });
  });

  it('refuses to work without a wish, with a broken pattern, and while a run goes on', async () => {
    const { cwd } = await project();
    expect(await callCli(['journal', 'redact', 'job'], { cwd })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--op PATH or --match'),
    });
    expect(await callCli(['journal', 'redact', 'job', '--match', '('], { cwd })).toMatchObject({ status: 1 });
    const running = await openFileStore(cwd).create({ workflow: JOB, run: runIdAt(Date.now(), 'zzzz') });
    const { status, stderr } = await callCli(['journal', 'redact', 'job@2', '--match', SECRET], { cwd });
    expect([status, stderr]).toEqual([1, expect.stringContaining('is in flight')]);
    await running.close();
    expect(await everything(cwd)).toContain(SECRET);
  });
});
