/** A stage whose function makes several calls pays for none of them again after it was cut short. graph-pipelines.md 7.3 and 10.3. */
import { afterEach, expect, it } from 'vitest';
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
