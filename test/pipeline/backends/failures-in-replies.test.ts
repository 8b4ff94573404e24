/** A stage fails whose function returns the failure of a call inside it: nothing is paid for what is made of that. calls.md 2.4. */
import { afterEach, expect, it } from 'vitest';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const FUNCTIONS = `
exe llm @part(text) = sh {
  echo "part $text" >> paid.txt
  if test "$text" = two && ! test -e well; then echo '{"fail":{"class":"content","message":"no"}}' >> $MLLD_CALL_REPORT; fi
  echo "done $text"
}
exe llm @ask(prompt, node, context) = [
  let @parts = for parallel(2) @n in ["one", "two"] => @part(@n)
  => @parts
]
exe llm @report(prompt, node, context) = [
  let @parts = for parallel(2) @n in ["one", "two"] => @part(@n)
  => { outcome: "success", reply: \`got @parts\` }
]
export { @ask, @report }
`;

it.each(['ask', 'report'])('also in a text and in the report of an outcome (@%s)', { timeout: 60_000 }, async (name) => {
  const shop = workshop(pipeline('a [prompt="p"]; b [prompt="q"]; start -> a -> b -> exit'));
  place = shop;
  shop.write('ask.mld', FUNCTIONS);
  const own = { backend: `exe:ask.mld#${name}` };
  const paid = (): readonly string[] => shop.read('paid.txt').split('\n').filter(Boolean).sort();
  const { report } = await shop.run(own);
  expect(report).toMatchObject({ status: 'failed', calls: { executed: 2, failed: 2, failedByClass: { content: 2 } } });
  expect(paid()).toEqual(['part one', 'part two']);
  shop.write('well', '');
  expect((await shop.run({ ...own, resume: '' })).report.status).toBe('completed');
  expect(paid().filter((line) => line === 'part two')).toHaveLength(3);
});
