/** The lines above `exe llm`, from the journal of the project. */
import { CodeLensRequest, CodeLensResolveRequest, type CodeLens } from 'vscode-languageserver-protocol/node';
import { existsSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { startEditor, type EditorSession } from './support/editor-session.js';

const TIDE = 'exe llm @ask(q) = js { return "A:" + q; }\nexe llm @other(q) = js { return q; }\nexe @plain(q) = `@q`\nshow @ask("ebb")\n';

let editor: EditorSession;

beforeAll(async () => {
  editor = await startEditor({ 'tide.mld': TIDE, 'lib.mld': 'exe llm @ask(q) = js { return q; }\n' });
});

afterAll(() => editor.end());

async function titles(name: string, text: string): Promise<readonly (readonly [line: number, title: string | undefined])[]> {
  await editor.open(name, text);
  const lenses = (await editor.connection.sendRequest(CodeLensRequest.type, { textDocument: editor.document(name) })) as CodeLens[];
  expect(lenses.every(({ command }) => command === undefined)).toBe(true);
  const resolved = await Promise.all(lenses.map((lens) => editor.connection.sendRequest(CodeLensResolveRequest.type, lens)));
  return resolved.map(({ range, command }) => [range.start.line, command?.title]);
}

it('says how often each function ran, how much was reused, and how long it took', async () => {
  expect(await titles('tide.mld', TIDE)).toEqual([
    [0, 'no recorded runs'],
    [1, 'no recorded runs'],
  ]);
  expect(existsSync(path.join(editor.folder, '.mlld'))).toBe(false);
  for (let run = 0; run < 2; run++) await callCli(['tide.mld', '--checkpoint'], { cwd: editor.folder });
  const [asked, other, ...more] = await titles('tide.mld', TIDE);
  expect(asked?.[1]).toMatch(/^2 calls in the last 2 runs · 50% reused · median \S+$/);
  expect(other).toEqual([1, 'no calls in the last 2 runs']);
  expect(more).toEqual([]);
  // A module has the runs of the project.
  expect((await titles('lib.mld', 'exe llm @ask(q) = js { return q; }\n'))[0]?.[1]).toMatch(
    /^2 calls in the last 2 runs of the project · /,
  );
});

it('says so when the journal can not be read', async () => {
  rmSync(path.join(editor.folder, '.mlld'), { recursive: true });
  mkdirSync(path.join(editor.folder, '.mlld'));
  writeFileSync(path.join(editor.folder, '.mlld', 'journal'), 'no folder');
  expect((await titles('tide.mld', TIDE))[0]?.[1]).toMatch(/^the journal can't be read: /);
});
