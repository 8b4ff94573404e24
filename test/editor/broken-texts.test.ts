/** Whatever a text is cut to while it is written, every question about any place in it has an answer. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { completionAt } from '../../src/editor/completion/completion.js';
import { definitionAt } from '../../src/editor/definition.js';
import { Editor } from '../../src/editor/editor.js';
import { hoverAt } from '../../src/editor/hover.js';
import { outlineOf } from '../../src/editor/outline.js';
import { readableScript } from '../../src/editor/readable-script.js';
import { renamingAt } from '../../src/editor/rename.js';
import { sourceFilesOnDisk } from '../../src/world/files/source-files.js';
import { PROJECT } from '../support/source-files.js';

const CASES = path.join(PROJECT, 'test/conformance');
const EVERY = 25;

const texts = readdirSync(CASES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.mld'))
  .sort()
  .filter((_, index) => index % EVERY === 0)
  .map((name) => readFileSync(path.join(CASES, name), 'utf8'));

it('answers at a cut in the middle of every line', { timeout: 300_000 }, async () => {
  const editor = new Editor({
    files: { ...sourceFilesOnDisk(), list: async () => ({ files: [], folders: [], linkedFolders: [] }) },
    settingsFor: async () => ({ projectRoot: '/nowhere', prefixes: [], suppressed: [], searchPath: [], display: (file) => file }),
  });
  const file = '/nowhere/text.mld';
  let suggested = 0;
  for (const text of texts) {
    let start = 0;
    for (const line of text.split('\n').slice(0, 30)) {
      const at = start + Math.ceil(line.length / 2);
      start += line.length + 1;
      const written = text.slice(0, at) + text.slice(start - 1);
      editor.change(file, written);
      await editor.problemsOf(file);
      const view = await editor.viewFor(file);
      const script = await readableScript(file, view);
      if (!script) throw new Error(`the text can't be read: ${written}`);
      outlineOf(script);
      await hoverAt(script, at, view);
      await definitionAt(script, at, view);
      await renamingAt(script, at, view);
      suggested += (await completionAt(script, at, view)).length;
    }
  }
  expect(suggested).toBeGreaterThan(1000);
});
