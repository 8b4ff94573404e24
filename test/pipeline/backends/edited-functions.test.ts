/** A stage tells that it reuses the reply of a function which was edited since. graph-pipelines.md 7.3. */
import { afterEach, expect, it } from 'vitest';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const MODULE = `
import { @words } from "./words.mld"
exe @prefix(text) = \`please: @text\`
exe llm @ask(prompt, node, context) = [
  let @text = @prefix(@prompt)
  let @said = @words(@text)
  => sh { echo paid >> paid.txt; echo "$prompt" }
]
export { @ask }
`;
const WORDS = 'exe @words(text) = template "./words.att"\nexport { @words }\n';

async function runTwice(edit: (shop: Workshop) => void, backend = 'exe:ask.mld#ask'): Promise<{ stderr: string; paid: string }> {
  const shop = workshop(pipeline('a [prompt="p"]; start -> a -> exit'));
  place = shop;
  shop.write('ask.mld', MODULE);
  shop.write('words.mld', WORDS);
  shop.write('words.att', 'one @text');
  const first = await shop.run({ backend, checkpoint: true });
  expect(first.report.status, first.stderr).toBe('completed');
  edit(shop);
  const { report, stderr } = await shop.run({ backend, checkpoint: true });
  expect(report.status).toBe('completed');
  return { stderr, paid: shop.read('paid.txt') };
}

it.each([
  ['its body', 'ask.mld', MODULE.replace('echo "$prompt"', 'echo "new $prompt"'), '@ask was edited'],
  ['a function that it calls', 'ask.mld', MODULE.replace('please', 'kindly'), '@prefix was edited'],
  ['a template of another module', 'words.att', 'two @text', 'the template ./words.att was edited'],
  ['the whole file, which has no such function any more', 'ask.mld', 'var @x = 1\n', '@ask was edited'],
  ['the whole file, which can’t be read any more', 'ask.mld', 'exe (', '@ask was edited'],
])('after an edit of %s', { timeout: 30_000 }, async (_what, file, text, said) => {
  const { stderr, paid } = await runTwice((shop) => shop.write(file, text));
  expect(stderr).toContain(said);
  expect(stderr).toContain('@g.a: 1 result reused from before its definition was edited');
  expect(paid).toBe('paid\n');
});

it('says nothing after an edit of something else', { timeout: 30_000 }, async () => {
  const { stderr } = await runTwice((shop) => shop.write('ask.mld', `>> a comment\nexe @other() = "x"\n${MODULE}`));
  expect(stderr).not.toContain('edited');
});
