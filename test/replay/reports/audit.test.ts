import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import { opPath, type BlobId } from '../../../journal/ids.js';
import type { AuditEntry } from '../../../replay/reports/audit/audit.js';
import { auditRun, type AuditFilter } from '../../../replay/reports/audit/audit-run.js';
import { originOfFile } from '../../../replay/reports/audit/file-origin-run.js';
import { sha256 } from '../../../journal/canonical.js';
import { call, finished, inside, JOB, runRef, started } from '../../support/written-runs.js';

const REF = runRef(1);
const effect = (op: string, kind: string, subject: string, more: Partial<Fact & { type: 'effect.performed' }> = {}): Fact => ({
  type: 'effect.performed',
  kind,
  subject,
  request: 'sha256:0',
  ...more,
  op: opPath(op),
});

async function storeWith(...facts: readonly Fact[][]) {
  const store = openMemoryStore();
  const journal = await store.create(REF);
  for (const fact of [started(REF), ...facts.flat()]) await journal.append(fact);
  await journal.close();
  const [file] = await store.runs(JOB);
  return { store, file: file! };
}

async function audited(facts: readonly Fact[][], filter: AuditFilter = {}) {
  const { store, file } = await storeWith(...facts);
  const entries: AuditEntry[] = [];
  const conclusion = await auditRun(store, file, filter, (entry) => entries.push(entry));
  return { entries, ...conclusion };
}

const paid = (op: string, text: string): Fact[] =>
  call(op, text).map((fact): Fact => (fact.type === 'call.completed' ? { ...fact, usage: { inputTokens: 7, costUsd: 0.25 } } : fact));

describe('an audit', () => {
  it('has every call with what came of it', async () => {
    const { entries, totals } = await audited([
      paid('main/ask#0', 'ebb'),
      call('main/ask#1', 'ebb', { outcome: 'reused' }),
      call('main/ask#2', 'flow', { outcome: 'failed' }),
      call('main/ask#3', 'neap', { outcome: 'killed' }),
    ]);
    expect(entries.map((entry) => entry.entry === 'call' && [entry.fn, entry.preview, entry.outcome, entry.from?.seq])).toEqual([
      ['ask', 'ebb', 'executed', undefined],
      ['ask', 'ebb', 'reused', 0],
      ['ask', 'flow', 'failed', undefined],
      ['ask', 'neap', 'unfinished', undefined],
    ]);
    expect(totals).toMatchObject({ executed: 1, reused: 1, failed: 1, unfinished: 1, inputTokens: 7, costUsd: 0.25, callsMs: 6 });
  });

  it('takes a call that waited when the run ended for no failed one', async () => {
    const [begin, begun, failed, end] = call('main/ask#0', 'ebb', { outcome: 'failed' });
    const waited = { ...(failed as Fact), message: 'The run was paused', waited: true } as Fact;
    const { entries, totals } = await audited([[begin!, begun!, waited, end!]]);
    expect(entries).toMatchObject([{ outcome: 'waited', message: 'The run was paused' }]);
    expect(entries[0]).not.toHaveProperty('class');
    expect(totals).toMatchObject({ failed: 0, unfinished: 1, attempts: 1 });
  });

  it('separates a file that was read from one that was not found', async () => {
    const { entries, totals } = await audited([
      inside('main/run#0', { kind: 'run' }, [
        effect('main/run#0', 'file.read', '/pier/log', { result: { inline: { text: 'ebb' } }, file: 'sha256:1' as BlobId }),
        effect('main/run#0', 'file.read', '/pier/none', { result: { inline: { missing: 'absent', detail: 'not there' } } }),
      ]),
    ]);
    expect(entries).toMatchObject([
      { did: 'read', path: '/pier/log' },
      { did: 'missed', path: '/pier/none' },
    ]);
    expect(totals).toMatchObject({ filesRead: 1, filesWritten: 0 });
  });

  it('has commands, files, decisions and errors', async () => {
    const { entries, totals } = await audited([
      inside('main/run#0', { kind: 'run' }, [
        effect('main/run#0', 'command.run', 'make tide', { result: { inline: { stdout: '', exitCode: 2 } }, elapsedMs: 3 }),
        effect('main/run#0', 'file.write', '/pier/log', { file: 'sha256:1' as BlobId }),
        effect('main/run#0', 'clock.now', 'clock.now'),
        {
          type: 'guard.decided',
          op: opPath('main/run#0'),
          guard: 'keep',
          timing: 'before',
          filter: 'op:run',
          decision: 'deny',
          transformed: false,
        },
        { type: 'hook.fired', op: opPath('main/run#0'), hook: 'h', timing: 'after', filter: 'op:run', transformed: false, elapsedMs: 1 },
        {
          type: 'hook.fired',
          op: opPath('main/run#0'),
          hook: 'h',
          timing: 'after',
          filter: 'op:run',
          transformed: false,
          elapsedMs: 1,
          error: 'no',
        },
      ]),
    ]);
    expect(entries).toMatchObject([
      { entry: 'command', command: 'make tide', exitCode: 2 },
      { entry: 'file', did: 'write', path: '/pier/log', hash: 'sha256:1' },
      { entry: 'guard', guard: 'keep', decision: 'deny' },
      { entry: 'hook', error: 'no' },
    ]);
    expect(totals).toMatchObject({ commands: 1, filesWritten: 1, denials: 1, hookErrors: 1 });
    expect(totals.hooks).toEqual([{ hook: 'h', timing: 'after', filter: 'op:run', firings: 2, errors: 1, durationMs: 2 }]);
  });

  it('chooses by operation, label and time', async () => {
    const facts = [paid('main/ask#0', 'ebb'), inside('main/run#0', { kind: 'run' }, [effect('main/run#0', 'file.read', 'a')])];
    expect((await audited(facts, { op: 'main/run#0' })).entries.map(({ entry }) => entry)).toEqual(['file']);
    expect((await audited(facts, { label: 'llm' })).entries.map(({ entry }) => entry)).toEqual(['call']);
    expect((await audited(facts, { toMs: 0 })).entries).toEqual([]);
    expect((await audited(facts, { fromMs: 0 })).entries).toHaveLength(2);
  });

  it('says whether the record is whole', async () => {
    expect((await audited([call('main/ask#0', 'ebb'), [finished()]])).integrity.ok).toBe(true);
    const stray: Fact = { type: 'op.finished', op: opPath('main/x#0'), outcome: 'ok' };
    expect((await audited([[stray]])).integrity).toMatchObject({ ok: false, violations: [{ rule: 'V2' }] });
  });
});

describe('where a file comes from', () => {
  const isFile = (path: string): boolean => path === '/pier/log';
  const write = (op: string, text: string): Fact[] =>
    inside(op, { kind: 'output' }, [effect(op, 'file.write', '/pier/log', { file: sha256(text) as string as BlobId })]);
  const originsOf = async (content: string | undefined, ...facts: readonly Fact[][]) => {
    const { store, file } = await storeWith(...facts);
    const report = await originOfFile(store, file, { isFile, content, onDefect: () => expect.unreachable() });
    return { ...report, origins: report.origins.map(({ call, evidence }) => [call.preview, evidence]) };
  };

  it('knows the calls whose results it contains', async () => {
    const text = 'high water: A:"flow"';
    const facts = [call('main/ask#0', 'ebb'), call('main/ask#1', 'flow'), write('main/output#0', text), call('main/ask#2', 'late')];
    expect(await originsOf(text, ...facts)).toMatchObject({
      content: 'as written',
      origins: [
        ['ebb', 'before'],
        ['flow', 'quoted'],
      ],
    });
    expect(await originsOf('edited', ...facts)).toMatchObject({
      content: 'another by now',
      origins: [
        ['ebb', 'before'],
        ['flow', 'before'],
      ],
    });
  });

  it('keeps to the iteration in which it was written', async () => {
    const facts = [
      inside('main/for#0[0]', { kind: 'for:iteration' }, call('main/for#0[0]/ask#0', 'ebb')),
      inside('main/for#0[1]', { kind: 'for:iteration' }, [...call('main/for#0[1]/ask#0', 'flow'), ...write('main/for#0[1]/output#0', 'x')]),
    ];
    expect((await originsOf(undefined, ...facts)).origins).toEqual([['flow', 'before']]);
  });

  it('names the call that declared it', async () => {
    const declared = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, outputs: [{ path: '/pier/log', reason: 'too-large' }] } : fact,
    );
    expect((await originsOf(undefined, declared)).origins).toEqual([['ebb', 'wrote']]);
  });

  it('does not take a file for another one whose content was not kept', async () => {
    const declared = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, outputs: [{ path: '/pier/log', reason: 'too-large' }] } : fact,
    );
    expect(await originsOf('x', declared)).toMatchObject({ content: 'unknown' });
  });

  it('says when the run did not write it', async () => {
    expect(await originsOf('x', call('main/ask#0', 'ebb'))).toMatchObject({ written: undefined, origins: [] });
  });
});
