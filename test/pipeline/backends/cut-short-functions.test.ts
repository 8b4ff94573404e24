/** A stage whose function makes several calls pays for none of them again after it was cut short. graph-pipelines.md 7.3 and 10.3. */
import { afterEach, expect, it } from 'vitest';
import { rejectResult } from '../../../src/session/upkeep/reject-result.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const FUNCTIONS = `
exe llm @first(text) = sh { echo "first $text" >> paid.txt; echo "one" }
exe llm @second(text) = sh { echo "second $text" >> paid.txt; until test -e go; do sleep 0.02; done; echo "two" }
exe llm @ask(prompt, node, context) = [
  let @one = @first("this")
  let @two = @second(@one)
  => @two
]
export { @ask }
`;

it.each([false, true])('continues with the results of calls that had ended (--checkpoint: %s)', { timeout: 60_000 }, async (checkpoint) => {
  const shop = workshop(pipeline('a [prompt="p"]; b [prompt="p"]; start -> a -> b -> exit'));
  place = shop;
  shop.write('ask.mld', FUNCTIONS);
  const ending = new AbortController();
  const own = { backend: 'exe:ask.mld#ask', checkpoint };
  const begun = shop.begin({ ...own, signal: ending.signal });
  await expect.poll(() => shop.read('paid.txt'), { timeout: 20_000 }).toBe('first this\nsecond one\n');
  ending.abort();
  expect((await begun).status).toBe('interrupted');
  shop.write('go', '');
  expect((await shop.run({ ...own, resume: '' })).report.status).toBe('completed');
  // The other stage makes its own calls.
  expect(shop.read('paid.txt')).toBe('first this\nsecond one\nsecond one\nfirst this\nsecond one\n');
});

const SAME_CALL_IN_BOTH = `
exe llm @first(text) = sh { date +%N | tee -a paid.txt }
exe llm @second(one, id) = sh { echo "$id has $one" >> seen.txt; until test -e go; do sleep 0.02; done; echo "two" }
exe llm @ask(prompt, node, context) = [
  let @one = @first("this")
  let @two = @second(@one, @node.id)
  => @two
]
export { @ask }
`;

it.each([false, true])('gives each branch its own of two equal calls (--checkpoint: %s)', { timeout: 60_000 }, async (checkpoint) => {
  const graph =
    'fork [shape=component]; a [prompt="p"]; b [prompt="p"]; m [shape=tripleoctagon]; start -> fork; fork -> a -> m; fork -> b -> m; m -> exit';
  const shop = workshop(pipeline(graph));
  place = shop;
  shop.write('ask.mld', SAME_CALL_IN_BOTH);
  shop.write('seen.txt', '');
  const seen = (): readonly string[] => shop.read('seen.txt').split('\n').filter(Boolean).sort();
  const ending = new AbortController();
  const own = { backend: 'exe:ask.mld#ask', checkpoint };
  const begun = shop.begin({ ...own, signal: ending.signal });
  await expect.poll(() => seen().length, { timeout: 20_000 }).toBe(2);
  const before = seen();
  ending.abort();
  expect((await begun).status).toBe('interrupted');
  shop.write('seen.txt', '');
  shop.write('go', '');
  expect((await shop.run({ ...own, resume: '' })).report.status).toBe('completed');
  expect(seen()).toEqual(before);
  expect(shop.read('paid.txt').trim().split('\n')).toHaveLength(2);
});

const EQUAL_CALLS = `
exe llm @first(text) = sh { date +%N | tee -a paid.txt }
exe llm @last(one, two) = sh { echo "$one $two" > seen.txt; until test -e go; do sleep 0.02; done; echo "done" }
exe llm @ask(prompt, node, context) = [
  let @one = @first("this")
  let @two = @first("this")
  => @last(@one, @two)
]
export { @ask }
`;

it.each([false, true])(
  'takes no result back that was rejected, where an equal call is executed again (--checkpoint: %s)',
  async (checkpoint) => {
    const shop = workshop(pipeline('a [prompt="p"]; start -> a -> exit'));
    place = shop;
    shop.write('ask.mld', EQUAL_CALLS);
    shop.write('seen.txt', '');
    const ending = new AbortController();
    const own = { backend: 'exe:ask.mld#ask', checkpoint };
    const begun = shop.begin({ ...own, signal: ending.signal });
    await expect.poll(() => shop.read('seen.txt'), { timeout: 20_000 }).not.toBe('');
    ending.abort();
    await begun;
    const rejected = shop.read('paid.txt').trim().split('\n');
    const [workflow] = await shop.store.workflows();
    const [file] = await shop.store.runs(workflow!);
    const mark = {
      store: shop.store,
      file: file!,
      name: 'g',
      by: { argv: [], versions: { mlld: 'x', node: 'x' }, host: 'x', pid: 1 },
      nowMs: Date.now,
      onDefect: () => undefined,
    };
    await rejectResult({ ...mark, path: 'main/a#0/try#1/model#0/ask#0/first#1' });
    shop.write('go', '');
    expect((await shop.run({ ...own, resume: '' })).report.status).toBe('completed');
    expect(shop.read('paid.txt').trim().split('\n')).toHaveLength(4);
    for (const each of rejected) expect(shop.read('seen.txt')).not.toContain(each);
  },
);
