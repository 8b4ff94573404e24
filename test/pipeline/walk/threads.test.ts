/** Conversations that several stages share. graph-pipelines.md 9.3 to 9.5. */
import { afterEach, expect, it } from 'vitest';
import type { Backends } from '../../../src/pipeline/stage/backend.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

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
