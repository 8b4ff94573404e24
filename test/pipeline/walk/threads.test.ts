/** Conversations that several stages share. graph-pipelines.md 9.3 to 9.5. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backend, Backends } from '../../../src/pipeline/stage/backend.js';
import { pipeline, runAndReplay, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

/** Returns the texts that stages were sent, when every reply has this length. */
async function sent(ids: readonly string[], replyUnits: number): Promise<readonly string[]> {
  const texts: string[] = [];
  const backends: Backends = new Map([
    [
      'scribe',
      () => ({
        name: 'scribe',
        execute: async ({ node }, _, { text }) => (texts.push(text), { reply: `${node.id}! ${'x'.repeat(replyUnits)}` }),
      }),
    ],
  ]);
  const stages = ids.map((id) => `${id} [prompt="say ${id}"]`).join('; ');
  const graph = 'goal="Chart the bay"\nbackend=scribe\ndefault_fidelity=full\ndefault_thread_id=log';
  place = workshop(pipeline(`${stages}; start -> ${ids.join(' -> ')} -> exit`, graph));
  const { report, findings } = await place.run({ backends });
  expect(report.status, findings).toBe('completed');
  return texts;
}

it('sends the whole thread without added text', async () => {
  const [first, second, third] = await sent(['a', 'b', 'c'], 3);
  expect(first).toBe('say a');
  expect(second).toBe('Earlier prompt:\nsay a\n\nYour reply:\na! xxx\n\nsay b');
  expect(third).toBe('Earlier prompt:\nsay a\n\nYour reply:\na! xxx\n\nEarlier prompt:\nsay b\n\nYour reply:\nb! xxx\n\nsay c');
});

it('drops the oldest turns near the window of a model, and summarises them', async () => {
  const texts = await sent(['a', 'b', 'c', 'd', 'e', 'f', 'g'], 150_000);
  // Four replies fit, the fifth does not: one is left, then it grows again.
  const kept = texts.map((text) => (text.match(/^[a-g]! /gm) ?? []).map((reply) => reply[0]).join(''));
  expect(kept).toEqual(['', 'a', 'ab', 'abc', 'd', 'de', 'def']);
  expect(texts.every((text) => text.length < 620_000)).toBe(true);
  const [before, after] = [texts[3], texts[4]];
  expect(before).not.toContain('left out');
  expect(after).toContain('Goal: Chart the bay\nFinished stages, newest first:\n- d: success');
  expect(after).toContain('(The first 3 turns of this conversation are left out.)');
});

it('keeps branches apart that name no thread, and lets those that name one take turns', async () => {
  const texts = new Map<string, string>();
  const backends: Backends = new Map([
    ['scribe', () => ({ name: 'scribe', execute: async ({ node }, _, { text }) => (texts.set(node.id, text), { reply: `${node.id}!` }) })],
  ]);
  place = workshop(
    pipeline(
      `fan [shape=component]; a [prompt=A]; b [prompt=B]; c [prompt=C, thread_id=log]; d [prompt=D, thread_id=log]; tail [prompt=T]
       m [shape=tripleoctagon]; start -> fan; fan -> a -> tail -> m; fan -> b -> m; fan -> c -> m; fan -> d -> m; m -> exit`,
      'backend=scribe\ndefault_fidelity=full',
    ),
  );
  const { events } = await place.run({ backends });
  const threads = events.flatMap((event) =>
    event.type === 'node.started' && event.thread !== undefined ? [`${event.node}: ${event.thread}`] : [],
  );
  expect(threads.toSorted()).toEqual(['a: fan.a', 'b: fan.b', 'c: log', 'd: log', 'tail: fan.a/a']);
  expect([texts.get('a'), texts.get('b'), texts.get('tail')]).toEqual(['A', 'B', 'T']);
  expect([texts.get('c'), texts.get('d')].toSorted((x = '', y = '') => x.length - y.length)[1]).toMatch(
    /^Earlier prompt:\n[CD]\n\nYour reply:\n[cd]!\n\n[CD]$/,
  );
});

describe('branches that share a thread', () => {
  const asked: string[] = [];
  const ask: Backend['execute'] = async ({ node }) => {
    asked.push(node.id);
    place?.write(`asked_${node.id}`, '');
    return { reply: `${node.id}!` };
  };
  const backends: Backends = new Map([['scribe', () => ({ name: 'scribe', execute: ask })]]);
  const untilAsked = (id: string): string => `until test -f asked_${id}; do sleep 0.02; done`;
  beforeEach(() => void (asked.length = 0));

  const wait = (id: string): string => `${id} [shape=parallelogram, tool_command="sleep $(cat ${id})"]`;
  const graph = (fan = '', more = ''): string =>
    pipeline(
      `fan [shape=component${fan}]; ${wait('wait_a')}; ${wait('wait_b')}; ${more}
       node [thread_id=log, fidelity=full]; a [prompt=A]; a2 [prompt=A2]; b [prompt=B]; m [shape=tripleoctagon]
       start -> fan -> wait_a -> a -> a2 -> m; fan -> wait_b -> b -> m; m -> exit`,
      'backend=scribe',
    );
  const slow = (branch: 'a' | 'b'): void => {
    place?.write('wait_a', branch === 'a' ? '0.2' : '0');
    place?.write('wait_b', branch === 'b' ? '0.2' : '0');
  };

  it('speak in the order of the graph, so that a second run reuses all replies, whichever arrives first', async () => {
    place = workshop(graph());
    slow('a');
    await runAndReplay(place, { backends, checkpoint: true });
    expect(asked).toEqual(['a', 'a2', 'b']);
    slow('b');
    const { report } = await runAndReplay(place, { backends, checkpoint: true });
    expect([report.status, asked.slice(3)]).toEqual(['completed', []]);
  });

  it('do not wait for a branch that can no longer come to the thread, nor for one that never could', async () => {
    const after = `late [shape=parallelogram, tool_command="${untilAsked('b')}", thread_id=log]`;
    place = workshop(
      pipeline(
        `fan [shape=component]; ${after}; a [prompt=A, thread_id=log]; b [prompt=B, thread_id=log]; c [prompt=C]; m [shape=tripleoctagon, prompt=M, thread_id=log]
         c0 [shape=parallelogram, tool_command="${untilAsked('b')}"]; start -> fan; fan -> c0 -> c -> m; fan -> a -> late -> m; fan -> b -> m; m -> exit`,
        'backend=scribe\ndefault_fidelity=full',
      ),
    );
    expect((await place.run({ backends })).report.status).toBe('completed');
    expect(asked).toEqual(['a', 'b', 'c', 'm']);
  });

  it('wait for the branches of a parallel node in an earlier one, and not for those around them', async () => {
    place = workshop(
      pipeline(
        `fan [shape=component]; inner [shape=component]; meet [shape=tripleoctagon]; m [shape=tripleoctagon]; ${wait('wait_a')}
         node [thread_id=log, fidelity=full]; a [prompt=A]; b [prompt=B]; c [prompt=C]
         start -> fan -> inner -> wait_a -> a -> meet; inner -> b -> meet -> m; fan -> c -> m; m -> exit`,
        'backend=scribe',
      ),
    );
    slow('a');
    await runAndReplay(place, { backends });
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('do not wait any more when their parallel node ends them', async () => {
    const stop = 'stop [shape=parallelogram, tool_command="sleep 0.2; exit 1"]';
    const text = graph(', error_policy=fail_fast', `${stop}; first [prompt=F, thread_id=other]; fan -> stop -> m`);
    place = workshop(text.replace('start -> fan', 'start -> first -> fan'));
    place.write('wait_a', '600');
    place.write('wait_b', '0');
    const { report } = await runAndReplay(place, { backends });
    expect([report.status, asked]).toEqual(['failed', ['first']]);
  });
});

describe('after a run that was stopped', () => {
  const hanging = new Set<string>();
  let texts: Record<string, string> = {};
  const backends: Backends = new Map([
    [
      'scribe',
      () => ({
        name: 'scribe',
        async execute({ node, signal }, _, { text }) {
          texts[node.id] = text;
          if (hanging.has(node.id)) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
          return { reply: `${node.id}!` };
        },
      }),
    ],
  ]);

  /** Stops the run when these stages wait for their replies, and resumes it. */
  async function resumed(text: string, stages: readonly string[]): Promise<void> {
    place = workshop(text);
    for (const stage of stages) hanging.add(stage);
    const controller = new AbortController();
    const run = place.run({ backends, signal: controller.signal });
    await vi.waitFor(() => expect(Object.keys(texts)).toEqual(expect.arrayContaining([...stages])));
    controller.abort('SIGINT');
    expect((await run).report.status).toBe('interrupted');
    hanging.clear();
    texts = {};
    expect((await runAndReplay(place, { backends, resume: '' })).report.status).toBe('completed');
  }
  beforeEach(() => void (texts = {}));

  it('a thread without any reply is none that was lost', async () => {
    const branches = 'a [prompt=A, thread_id=one]; b [prompt=B, thread_id=two]; fan -> a -> m; fan -> b -> m';
    await resumed(
      pipeline(
        `fan [shape=component]; m [shape=tripleoctagon]; start -> fan; ${branches}; m -> exit`,
        'backend=scribe\ndefault_fidelity=full',
      ),
      ['a', 'b'],
    );
    expect([texts['a'], texts['b']]).toEqual(['A', 'B']);
  });

  it('the next stage of the thread hears of the first one, which a resume keeps out of it', async () => {
    await resumed(
      pipeline(
        'a [prompt=A]; b [prompt=B]; c [prompt=C]; start -> a -> b -> c -> exit',
        'backend=scribe\ndefault_fidelity=full\ndefault_thread_id=log',
      ),
      ['a'],
    );
    expect(texts['b']).toMatch(/- a: success[^]*\n\nB$/);
    expect(texts['c']).toBe('Earlier prompt:\nB\n\nYour reply:\nb!\n\nC');
  });

  it('the conversation of a thread with a reply is lost', async () => {
    await resumed(
      pipeline(
        'a [prompt=A]; t [prompt=T, thread_id=other]; b [prompt=B]; start -> a -> t -> b -> exit',
        'backend=scribe\ndefault_fidelity=full\ndefault_thread_id=log',
      ),
      ['t'],
    );
    expect(texts['b']).toMatch(/- a: success[^]*\n\nB$/);
  });
});
