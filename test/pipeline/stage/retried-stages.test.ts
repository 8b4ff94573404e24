/** Retried stages are paid for once, in later runs too, and replay as they were counted when they were recorded. graph-pipelines.md 7.3. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventOf, Fact, JournalEvent } from '../../../journal/event.js';
import type { RunRef } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { JournalStore } from '../../../journal/store.js';
import type { Backend, Backends } from '../../../src/pipeline/stage/backend.js';
import { outcomeOf, StageError, type StageStatus } from '../../../src/pipeline/model/outcome.js';
import { callKey, type CallRequest } from '../../../src/runtime/calls/call-key.js';
import { replayRun } from '../../../src/session/rerun/replay.js';
import { pipeline, runAndReplay, workshop, type Workshop } from '../../support/pipeline-run.js';

let shop: Workshop | undefined;
afterEach(() => shop?.remove());

const TEXT = pipeline('a [prompt="A", max_retries=4, retry_delay="1ms"]; start -> a -> exit', 'backend="pigeon:east"');

/** Fails where the plan has nothing, else replies with this outcome; success behind the end of the plan. */
function pigeons(plan: readonly (StageStatus | undefined)[]): { readonly backends: Backends; readonly sent: () => number } {
  let sent = 0;
  const execute: Backend['execute'] = async () => {
    const status = sent < plan.length ? plan[sent] : 'success';
    sent += 1;
    if (status === undefined) throw new StageError('transient', 'lost on the way');
    return { reply: `coo ${sent}`, outcome: outcomeOf(status, { failure_reason: status === 'success' ? '' : 'not yet' }) };
  };
  return { backends: new Map([['pigeon', (rest: string): Backend => ({ name: `pigeon:${rest}`, execute })]]), sent: () => sent };
}

function numbersOf(events: readonly JournalEvent[]): readonly unknown[] {
  const started = events.filter((event): event is EventOf<'call.started'> => event.type === 'call.started');
  return started.map(({ args }) => ('inline' in args ? (args.inline as { attempt: number }[])[0]?.attempt : undefined));
}

describe('a stage that is retried', () => {
  it.each([
    { of: 'failed', plan: [undefined, undefined], calls: [1, 1, 1] },
    { of: 'asked for it', plan: ['retry', 'retry'] as const, calls: [1, 2, 3] },
    { of: 'failed, and others asked for it', plan: [undefined, 'retry', undefined, 'retry'] as const, calls: [1, 1, 2, 2, 3] },
  ])('is not paid again by a later run when earlier attempts had $of', async ({ plan, calls }) => {
    shop = workshop(TEXT);
    const { backends, sent } = pigeons(plan);
    const first = await runAndReplay(shop, { backends, checkpoint: true });
    expect(first.report.status).toBe('completed');
    expect(numbersOf(first.events)).toEqual(calls);
    const later = await runAndReplay(shop, { backends, checkpoint: true });
    expect(later.report.status).toBe('completed');
    expect(later.checkpoint.context['last_response']).toBe(first.checkpoint.context['last_response']);
    expect(sent()).toBe(calls.length);
  });

  it.each(['compact', 'summary:low', 'summary:medium', 'summary:high'])(
    'is told to the stages behind it, which are not paid again: %s',
    async (fidelity) => {
      const stages = `a [prompt="A", max_retries=4, retry_delay="1ms"]; b [prompt="B", fidelity="${fidelity}"]; start -> a -> b -> exit`;
      shop = workshop(pipeline(stages, 'backend="pigeon:east"'));
      const { backends, sent } = pigeons([undefined, 'retry', undefined]);
      const first = await runAndReplay(shop, { backends, checkpoint: true });
      expect(first.report.status).toBe('completed');
      if (fidelity === 'summary:high')
        expect(readFileSync(`${first.report.runDirectory}/b/preamble.md`, 'utf8')).toContain('- a needed 4 attempts');
      await runAndReplay(shop, { backends, checkpoint: true });
      expect(sent()).toBe(5);
    },
  );

  it('that was killed between two attempts counts those that were answered before', async () => {
    shop = workshop(TEXT);
    const { backends, sent } = pigeons([undefined, 'retry', 'retry']);
    const stop = new AbortController();
    const onEvent = (event: JournalEvent): void => {
      if (event.type === 'retry.scheduled' && event.attempt === 2) stop.abort();
    };
    await shop.run({ backends, checkpoint: true, signal: stop.signal, onEvent });
    expect(sent()).toBe(2);
    const resumed = await runAndReplay(shop, { backends, checkpoint: true, resume: '' });
    expect(resumed.report.status).toBe('completed');
    expect(numbersOf(resumed.events)).toEqual([2, 3]);
    await runAndReplay(shop, { backends, checkpoint: true });
    expect(sent()).toBe(4);
  });
});

/** Writes a run as programs wrote it that counted all attempts. */
async function asOfBefore(events: readonly JournalEvent[], ref: RunRef): Promise<JournalStore> {
  const earlier = openMemoryStore();
  const journal = await earlier.create(ref);
  const keys = new Map<string, string>();
  for (const event of events) {
    const { v: _v, seq: _seq, ts: _ts, hash: _hash, ...fact } = event as JournalEvent & { hash: string };
    const written = { ...fact } as { [member: string]: unknown };
    delete written['answered'];
    if (event.type === 'call.started' && 'inline' in event.args) {
      const [own] = event.args.inline as [{ attempt: number }];
      const args = [{ ...own, attempt: Number(/\/try#(\d+)\//.exec(event.op)?.[1]) }] as CallRequest['args'];
      keys.set(event.op, callKey({ fn: event.fn, args }));
      written['args'] = { inline: args };
    }
    if ('key' in written) written['key'] = keys.get(event.type.startsWith('call.') ? (event as EventOf<'call.started'>).op : '');
    journal.post(written as unknown as Fact);
  }
  await journal.close();
  return earlier;
}

describe('a run of before, which counted all attempts of a stage', () => {
  it('replays the same', async () => {
    shop = workshop(TEXT);
    const { backends } = pigeons([undefined, 'retry', undefined]);
    const { events } = await shop.run({ backends });
    const [{ ref } = expect.fail('no run was recorded')] = await shop.store.runs('p.dot' as RunRef['workflow']);
    const store = await asOfBefore(events, ref);
    const sinks = { stdout: () => undefined, stderr: () => undefined };
    const { divergences, verdict } = await replayRun({ store, ref, root: '/nowhere', scriptText: TEXT, divergences: 'first', sinks });
    expect(divergences).toEqual([]);
    expect(verdict).toBe('same');
  });
});
