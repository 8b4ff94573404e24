import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { opPath, seqOf } from '../../../journal/ids.js';
import { ATTEMPT_COLUMNS, attemptRows, CALL_COLUMNS, callRows } from '../../../replay/export/call-rows.js';
import { chromeTrace } from '../../../replay/export/chrome-trace.js';
import { tracksOf } from '../../../replay/reports/timeline/tracks.js';
import { otlpSpans as spansOf } from '../../../replay/export/otlp.js';
import { spanObject } from '../../../replay/export/otlp-span.js';
import { fold } from '../../../replay/fold/projection.js';
import { timeline } from '../../../replay/reports/timeline/timeline.js';
import { anyRun } from '../../support/any-run.js';
import { changed } from '../../server/served-run.js';
import { call, loop, run, runRef } from '../../support/written-runs.js';

const ref = runRef(1);
const LOOP = loop('main/for#0', ['ebb', 'flow'], (item, at) => call(`${at}/ask#0`, item, item === 'flow' ? { outcome: 'reused' } : {}));

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links?: readonly object[];
}

function otlpSpans(entries: ReturnType<typeof run>, of = ref): OtlpSpan[] {
  const spans = spansOf(of, fold(timeline, entries), { version: '9.9.9', isRunning: false });
  return [...spans].map(({ parts }) => spanObject(of, parts) as OtlpSpan);
}

const valueOf = (span: OtlpSpan | undefined, key: string) => span?.attributes.find((attribute) => attribute.key === key)?.value;

const AT = { worker: 'hut', workerHost: 'db7' };
const FROM = { run: runRef(2).run, seq: seqOf(4) };

/** Calls of an operation each, which a worker executed: one has a result, one failed. */
const atWorker = (): Fact[] => [
  ...changed(call('main/ask#0', 'ebb', { outcome: 'reused' }), 'call.reused', { ...AT, workerUsd: 0.5, from: FROM }),
  ...changed(call('main/ask#1', 'flow', { outcome: 'failed' }), 'call.started', { ...AT, begun: FROM }),
];

describe('a call that a worker executed', () => {
  it('is a span that links to the run of the worker, and no request and no reuse', () => {
    const [, executed, failed, ...rest] = otlpSpans(run(ref, atWorker()));
    expect([executed?.name, failed?.name, rest]).toEqual(['exe ask', 'exe ask', []]);
    const about = ['mlld.call.outcome', 'mlld.op.outcome', 'mlld.worker.name', 'mlld.worker.host', 'mlld.worker.run'];
    expect(about.map((name) => Object.values(valueOf(executed, name) ?? {})[0])).toEqual(['executed', 'ok', 'hut', 'db7', FROM.run]);
    expect(valueOf(executed, 'mlld.worker.cost_usd')).toEqual({ doubleValue: 0.5 });
    expect(valueOf(executed, 'mlld.call.cost_usd')).toBeUndefined(); // the worker's run has it
    expect(valueOf(executed, 'mlld.reused')).toEqual({ boolValue: false });
    expect(executed?.links).toHaveLength(1);
    expect(failed?.status).toEqual({ code: 2, message: 'no' });
    expect(valueOf(failed, 'mlld.worker.name')).toEqual({ stringValue: 'hut' });
  });

  it('is a row of a table with what it cost there, from its offer to its result, and no attempt', () => {
    const state = fold(timeline, run(ref, atWorker()));
    const [executed, failed] = [...callRows(ref, state)];
    const there = { worker: 'hut', workerHost: 'db7', costUsd: undefined, attempts: undefined };
    expect(executed).toMatchObject({ ...there, outcome: 'executed', durationMs: 1000, workerUsd: 0.5, fromRun: FROM.run });
    expect(failed).toMatchObject({ ...there, outcome: 'failed', durationMs: 2000, workerUsd: undefined });
    expect([...attemptRows(ref, state)]).toEqual([]);
  });

  it('counts as executed in the trace of Chrome', () => {
    const { traceEvents, otherData } = chromeTrace(ref, fold(timeline, run(ref, atWorker()))) as {
      traceEvents: readonly { name: string; cat?: string; args: { outcome?: string } }[];
      otherData: object;
    };
    expect(otherData).toMatchObject({ executed: 1, reused: 0, failed: 1, atWorkers: 1, atWorkersUsd: 0.5, costUsd: null });
    const [executed] = traceEvents.filter(({ cat }) => cat?.startsWith('llm'));
    expect(executed).toMatchObject({ cat: 'llm', args: { outcome: 'ok', worker: 'hut', workerHost: 'db7', workerUsd: 0.5 } });
  });
});

describe('OpenTelemetry spans', () => {
  it('form one tree below the run, with the same ids each time', () => {
    const spans = otlpSpans(run(ref, LOOP));
    expect(otlpSpans(run(ref, LOOP))).toEqual(spans);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual(['invoke_workflow job']);
    for (const { parentSpanId, traceId, spanId } of spans) {
      if (parentSpanId !== undefined) expect(ids).toContain(parentSpanId);
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  it('name attempts as requests to a model, inside of their calls, and reused results not', () => {
    const spans = otlpSpans(run(ref, LOOP));
    const [called, asked] = [spans.find(({ name }) => name === 'exe ask'), spans.find(({ name }) => name === 'chat ask')];
    const served = spans.find(({ name }) => name === 'reused ask');
    expect(asked?.parentSpanId).toBe(called?.spanId);
    expect(valueOf(asked, 'gen_ai.operation.name')).toEqual({ stringValue: 'chat' });
    expect(valueOf(asked, 'gen_ai.provider.name')).toEqual({ stringValue: '_OTHER' });
    expect([called, served].map((span) => valueOf(span, 'gen_ai.operation.name'))).toEqual([undefined, undefined]);
    expect(valueOf(served, 'mlld.reused')).toEqual({ boolValue: true });
    expect([called?.kind, asked?.kind, served?.kind]).toEqual([1, 3, 1]);
  });

  it('carry tokens and cost as numbers on the attempt, failures as status with their class', () => {
    const paid = call('main/ask#0', 'ebb').map((fact): Fact =>
      fact.type === 'call.completed' ? { ...fact, usage: { inputTokens: 12, outputTokens: 3, costUsd: 0.5 } } : fact,
    );
    const spans = otlpSpans(run(ref, paid, call('main/ask#1', 'flow', { outcome: 'failed' })));
    expect(valueOf(spans[1], 'gen_ai.usage.input_tokens')).toBeUndefined(); // counted once
    expect(valueOf(spans[2], 'gen_ai.usage.input_tokens')).toEqual({ intValue: '12' });
    expect(valueOf(spans[2], 'mlld.usage.cost_usd')).toEqual({ doubleValue: 0.5 });
    for (const span of spans.slice(3)) {
      expect(span.status).toEqual({ code: 2, message: 'no' });
      expect(valueOf(span, 'error.type')).toEqual({ stringValue: 'crash' });
    }
  });

  it('give each attempt its model, provider, finish reason and class, by the conventions', () => {
    const [begin, begun, completed, end] = call('main/ask#0', 'ebb') as [
      Fact,
      Fact & { type: 'call.started' },
      Fact & { type: 'call.completed' },
      Fact,
    ];
    const { key, op } = begun;
    const turnedAway: Fact = {
      type: 'call.failed',
      key,
      op,
      message: 'slow down',
      class: 'rate-limit',
      status: 429,
      elapsedMs: 1,
      retryInMs: 250,
    };
    const answered: Fact = {
      ...completed,
      usage: { model: 'claude-opus-5', inputTokens: 7, cachedInputTokens: 4, outputTokens: 2, costSource: 'table', costUsd: 0.25 },
      reply: { adapter: 'claude' },
      session: 's-1',
      truncated: true,
    };
    const lane = 'claude/opus';
    const spans = otlpSpans(run(ref, [begin, { ...begun, lane }, turnedAway, { ...begun, lane, try: 2, waitedMs: 250 }, answered, end]));
    expect(spans.map(({ name }) => name)).toEqual(['invoke_workflow job', 'exe ask', 'chat opus', 'chat opus']);
    expect(spans.slice(2).map(({ parentSpanId }) => parentSpanId)).toEqual([spans[1]?.spanId, spans[1]?.spanId]);
    const text = (span: OtlpSpan | undefined, name: string) => (valueOf(span, name) as { stringValue?: string } | undefined)?.stringValue;
    expect(text(spans[2], 'error.type')).toBe('rate-limit');
    expect(valueOf(spans[2], 'http.response.status_code')).toEqual({ intValue: '429' });
    expect(valueOf(spans[2], 'mlld.attempt.retry_in_ms')).toEqual({ intValue: '250' });
    expect(text(spans[2], 'gen_ai.response.model')).toBeUndefined();
    expect(spans[1]?.status).toEqual({ code: 1 });
    const last = spans[3];
    expect(
      ['gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.response.model', 'gen_ai.conversation.id'].map((name) => text(last, name)),
    ).toEqual(['anthropic', 'opus', 'claude-opus-5', 's-1']);
    expect(valueOf(last, 'gen_ai.response.finish_reasons')).toEqual({ arrayValue: { values: [{ stringValue: 'length' }] } });
    expect(valueOf(last, 'gen_ai.usage.cache_read.input_tokens')).toEqual({ intValue: '4' });
    expect(text(last, 'mlld.usage.cost_source')).toBe('table');
    expect(valueOf(last, 'error.type')).toBeUndefined();
  });

  it('link a reused result to the call that recorded it', () => {
    const recorded = run(ref, call('main/ask#0', 'ebb'));
    const { seq } = recorded.find(({ event }) => event.type === 'call.completed')!.event;
    const again = runRef(2);
    const reused = call('main/ask#0', 'ebb', { outcome: 'reused' }).map((fact): Fact =>
      fact.type === 'call.reused' ? { ...fact, from: { run: ref.run, seq } } : fact,
    );
    const [, source] = otlpSpans(recorded);
    const [, span] = otlpSpans(run(again, reused), again);
    expect(span?.links).toEqual([{ traceId: source?.traceId, spanId: source?.spanId }]);
    expect(span?.traceId).not.toBe(source?.traceId);
  });

  it("name the model and the provider of a pipeline's stage, which its node names and its call requests", () => {
    const node = { op: opPath('main/plan#0'), node: 'plan', visit: 0 };
    const stage: Fact[] = [
      { type: 'op.started', op: node.op, kind: 'node', name: 'plan' },
      { type: 'node.started', ...node, handler: 'codergen', model: 'opus', provider: 'anthropic' },
      ...call('main/plan#0/model#0', 'ebb'),
    ];
    const [, about, , asked] = otlpSpans(run(ref, stage));
    expect([about?.name, asked?.name]).toEqual(['node plan', 'chat opus']);
    expect(valueOf(asked, 'gen_ai.request.model')).toEqual({ stringValue: 'opus' });
    expect(valueOf(asked, 'gen_ai.provider.name')).toEqual({ stringValue: 'anthropic' });
    expect(valueOf(asked, 'mlld.function')).toEqual({ stringValue: 'ask' });
  });

  it('tell the place in the source as path, line and column', () => {
    const [, span] = otlpSpans(
      run(
        ref,
        call('main/ask#0', 'ebb').map((fact): Fact => (fact.type === 'op.started' ? { ...fact, site: 'a:b.mld:12:3' } : fact)),
      ),
    );
    expect(valueOf(span, 'code.file.path')).toEqual({ stringValue: 'a:b.mld' });
    expect([valueOf(span, 'code.line.number'), valueOf(span, 'code.column.number')]).toEqual([{ intValue: '12' }, { intValue: '3' }]);
  });

  it('give each call a span where an operation made several', () => {
    const twice = call('main/ask#0', 'ebb', { outcome: 'failed' }).slice(0, 3);
    const spans = otlpSpans(run(ref, twice, call('main/ask#0', 'flow').slice(1)));
    expect(spans.map(({ name }) => name)).toEqual(['invoke_workflow job', 'exe ask', 'call ask', 'chat ask', 'call ask', 'chat ask']);
  });
});

describe('the Chrome trace', () => {
  it('gives what runs side by side tracks of its own, and reuses them', () => {
    const [one, two] = [call('main/ask#0', 'ebb'), call('main/ask#1', 'flow')];
    const together = [one[0]!, two[0]!, ...one.slice(1), ...two.slice(1)];
    const state = fold(timeline, run(ref, together, call('main/ask#2', 'slack')));
    expect(tracksOf(state).map(({ track }) => track)).toEqual([0, 1, 0]);
  });

  it('never lets two spans of one track overlap but inside each other', () => {
    fc.assert(
      fc.property(anyRun, (entries) => {
        const placed = tracksOf(fold(timeline, entries));
        for (const [number, { span, track }] of placed.entries()) {
          for (const { span: earlier, track: other } of placed.slice(0, number)) {
            if (other !== track || (earlier.endedSeq ?? Infinity) < span.seq) continue;
            expect(span.op.startsWith(earlier.op), `${earlier.op} is open on track ${track} when ${span.op} begins`).toBe(true);
            expect(span.endedSeq ?? Infinity).toBeLessThanOrEqual(earlier.endedSeq ?? Infinity);
          }
        }
      }),
    );
  });

  it('is in microseconds since the start of the run', () => {
    const trace = chromeTrace(ref, fold(timeline, run(ref, call('main/ask#0', 'ebb')))) as { traceEvents: Record<string, unknown>[] };
    expect(trace.traceEvents.filter(({ ph }) => ph === 'X')).toEqual([
      expect.objectContaining({ name: 'ask', cat: 'llm', tid: 0, ts: 1_000_000, dur: 3_000_000 }),
    ]);
  });
});

describe('rows of calls', () => {
  it('are one for each call', () => {
    const rows = [...callRows(ref, fold(timeline, run(ref, LOOP)))];
    expect(rows).toMatchObject([
      { fn: 'ask', outcome: 'executed', argument: 'ebb', durationMs: 5 },
      { fn: 'ask', outcome: 'reused', fromRun: runRef(0).run, fromSeq: 0 },
    ]);
    expect(Object.keys(rows[0]!)).toEqual([...CALL_COLUMNS]);
  });

  it('or one for each attempt, with the same sum of costs', () => {
    const [begin, started, , end] = call('main/ask#0', 'ebb') as [Fact, Fact & { type: 'call.started' }, Fact, Fact];
    const { op, key } = started;
    const begun = { ...started, lane: 'claude/opus' };
    const facts: Fact[] = [
      begin,
      begun,
      {
        type: 'call.failed',
        key,
        op,
        message: 'slow',
        class: 'rate-limit',
        status: 429,
        elapsedMs: 1,
        retryInMs: 5,
        usage: { costUsd: 0.25 },
      },
      { ...begun, try: 2, waitedMs: 5 },
      { type: 'call.failed', key, op, message: 'no', class: 'crash', try: 2, elapsedMs: 2, usage: { costUsd: 0.5, outputTokens: 3 } },
      end,
    ];
    const state = fold(timeline, run(ref, facts));
    const [calls, attempts] = [[...callRows(ref, state)], [...attemptRows(ref, state)]];
    expect(calls).toMatchObject([{ outcome: 'failed', class: 'crash', attempts: 2, costUsd: 0.75 }]);
    expect(attempts).toMatchObject([
      { call: calls[0]?.seq, try: 1, class: 'rate-limit', status: 429, retryInMs: 5, lane: 'claude/opus', costUsd: 0.25 },
      { call: calls[0]?.seq, try: 2, class: 'crash', waitedMs: 5, outputTokens: 3, costUsd: 0.5 },
    ]);
    expect(attempts[0]?.seq).toBe(calls[0]?.seq);
    expect(attempts.map((row) => Object.keys(row))).toEqual([[...ATTEMPT_COLUMNS], [...ATTEMPT_COLUMNS]]);
    expect([...attemptRows(ref, fold(timeline, run(ref, LOOP)))]).toHaveLength(1); // a reused result has none
  });
});
