/** Programs that a traced run starts find the span that they work in, as W3C trace context. calls.md 17.1. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportOtlp, openFileStore, replayRun, run, runPipeline, type RunRequest, type RunRef } from '../../src/api/index.js';

const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
const [, GIVEN_TRACE, GIVEN_SPAN] = GIVEN.split('-');

let folder: string;
let shown: string;
let said: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-trace-')));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  [shown, said] = ['', ''];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

async function spansOf(ref: RunRef): Promise<readonly Span[]> {
  const { resourceSpans } = (await exportOtlp(openFileStore(folder), ref)) as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
  };
  return resourceSpans[0]!.scopeSpans[0]!.spans;
}

const io = {
  stdout: (text: string): void => void (shown += text),
  stderr: (text: string): void => void (said += text),
};

/** Runs a script and returns where it is recorded, and the ids that it showed. */
async function traced(text: string, environment: { readonly [name: string]: string } = {}, request: Partial<RunRequest> = {}) {
  const file = path.join(folder, 'job.mld');
  writeFileSync(file, text);
  [shown, said] = ['', ''];
  const report = await run({
    script: { kind: 'file', path: file },
    workingDirectory: folder,
    environment: { PATH: process.env['PATH'], ...environment },
    cache: { checkpoint: true },
    io,
    ...request,
  });
  const contexts = shown
    .trim()
    .split('\n')
    .map((line) => line.split('-'));
  return { ref: report.journal as RunRef, contexts };
}

const ASK = 'exe llm @ask(q) = sh { echo "$TRACEPARENT" }\nshow @ask("a")\n';

describe('the trace context of a run', () => {
  it('is that of the attempt in its commands and code, and of the operation elsewhere; the export has the same ids', async () => {
    const code =
      'exe llm @code(q) = js { return mlld.traceparent }\nexe llm @in(q) = [ var @a = run cmd { printenv TRACEPARENT }\n => @a ]\n';
    const text = `${ASK}${code}show @code("b")\nshow @in("c")\nrun cmd { printenv TRACEPARENT }\n`;
    const { ref, contexts } = await traced(text, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
    const spans = await spansOf(ref);
    const attempts = spans.filter(({ name }) => name.startsWith('chat '));
    expect(contexts.slice(0, 3).map(([, , span]) => span)).toEqual(attempts.map(({ spanId }) => spanId));
    expect(contexts.map(([version, trace, , flags]) => [version, trace, flags])).toEqual(
      contexts.map(() => ['00', spans[0]?.traceId, '01']),
    );
    expect(spans.find(({ spanId }) => spanId === contexts[3]?.[2])?.name).toBe('run');
  });

  it('continues the trace that the run was started in, with its flags, and keeps it in the journal', async () => {
    const { ref, contexts } = await traced(ASK, { TRACEPARENT: GIVEN });
    const spans = await spansOf(ref);
    expect(spans[0]).toMatchObject({ traceId: GIVEN_TRACE, parentSpanId: GIVEN_SPAN });
    expect(contexts[0]).toEqual(['00', GIVEN_TRACE, spans.find(({ name }) => name.startsWith('chat '))?.spanId, '00']);
  });

  it('is a part of neither key nor fingerprint: the result is reused, and links to the trace of the run that recorded it', async () => {
    const first = await traced(ASK, { TRACEPARENT: GIVEN });
    const { ref } = await traced(ASK, { OTEL_TRACES_EXPORTER: 'otlp' });
    const [result] = (await spansOf(first.ref)).filter(({ name }) => name.endsWith(' ask'));
    const reused = (await spansOf(ref)).find(({ name }) => name.startsWith('reused '));
    expect(reused?.links).toEqual([{ traceId: GIVEN_TRACE, spanId: result?.spanId }]);
    expect(reused?.traceId).not.toBe(GIVEN_TRACE);
    const { verdict } = await replayRun({
      store: openFileStore(folder),
      ref: first.ref,
      root: '/nowhere',
      divergences: 'first',
      sinks: io,
    });
    expect(verdict).toBe('same');
  });

  it('is handed on as it is where nothing is recorded, and made by nobody where nobody traces', async () => {
    await traced(ASK, { TRACEPARENT: GIVEN }, { cache: {} });
    expect(shown.trim()).toBe(GIVEN);
    await traced(ASK.replace('"a"', '"b"'));
    expect(shown.trim()).toBe('');
    await traced(ASK.replace('"a"', '"c"'), { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
    expect(shown.trim()).toBe('');
  });

  it('is warned of where it is none', async () => {
    await traced(ASK, { TRACEPARENT: '00-00000000000000000000000000000000-b7ad6b7169203331-01' });
    expect(said).toContain('warning: TRACEPARENT is not a W3C trace context');
  });

  it('reaches the programs of a pipeline: of a model stage that of the attempt', async () => {
    const file = path.join(folder, 'p.dot');
    const model = 'a [prompt="x", backend="cmd:printenv TRACEPARENT >> seen; echo ok"]';
    const tool = 'b [shape=parallelogram, tool_command="printenv TRACEPARENT"]';
    writeFileSync(file, `digraph g { start [shape=Mdiamond] exit [shape=Msquare] ${model} ${tool} start -> a -> b -> exit }`);
    const environment = { PATH: process.env['PATH'], TRACEPARENT: GIVEN };
    const { journal, status } = await runPipeline({ file, workingDirectory: folder, environment, io });
    expect(status).toBe('completed');
    const spans = await spansOf(journal as RunRef);
    const [, trace, span] = readFileSync(path.join(folder, 'seen'), 'utf8').trim().split('-');
    expect(trace).toBe(GIVEN_TRACE);
    expect(spans.find(({ spanId }) => spanId === span)?.name).toMatch(/^chat /);
  });
});
