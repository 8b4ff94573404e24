/** Problems while typing: those of `mlld validate`, about the text that the editor shows. */
import { DiagnosticSeverity } from 'vscode-languageserver-protocol/node';
import { afterEach, describe, expect, it } from 'vitest';
import { startEditor, type EditorSession } from './support/editor-session.js';

let editor: EditorSession | undefined;

afterEach(async () => {
  if (editor?.child.exitCode === null && editor.child.signalCode === null) await editor.end();
});

async function start(files: { readonly [name: string]: string } = {}): Promise<EditorSession> {
  editor = await startEditor(files);
  return editor;
}

const at = (line: number, start: number, end: number) => ({ start: { line, character: start }, end: { line, character: end } });

describe('the problems of a script', () => {
  it('are about the unsaved text, and go when it is right', async () => {
    const { open, change, problems } = await start({ 'tide.mld': 'show "saved"\n' });
    await open('tide.mld', 'var @tide = 3\nshow @tied\n');
    const [found, ...others] = await problems('tide.mld');
    expect(others).toEqual([]);
    expect(found).toMatchObject({ range: at(1, 5, 10), severity: DiagnosticSeverity.Warning, source: 'mlld', code: 'undefined-variable' });
    expect(found?.message).toBe('@tied: undefined variable\ndid you mean @tide?');
    await change('tide.mld', 'tide', at(1, 6, 10));
    expect(await problems('tide.mld', ({ length }) => length === 0)).toEqual([]);
  });

  it('are none for a sound text, and that is said once', async () => {
    const { open, problems } = await start();
    await open('tide.mld', 'show "1"\n');
    expect(await problems('tide.mld')).toEqual([]);
  });

  it('have all syntax errors, at their places, also in a file with CRLF', async () => {
    const { open, problems } = await start();
    await open('tide.mld', 'var @a = \r\nshow "x"\r\nvra @b = 2\r\n');
    const found = await problems('tide.mld');
    expect(found.map(({ range, severity, code }) => [range.start.line, severity, code])).toEqual([
      [0, DiagnosticSeverity.Error, 'syntax'],
      [2, DiagnosticSeverity.Error, 'syntax'],
    ]);
  });

  it('are inside the code of a function that does not compile, also in a file with CRLF', async () => {
    const { open, change, problems } = await start();
    await open('tide.mld', 'exe @f(t) = js {\r\n  const a = t\r\n  return a +;\r\n}\r\n');
    const [found, ...others] = await problems('tide.mld');
    expect(others).toEqual([]);
    expect(found).toMatchObject({ range: at(2, 12, 13), severity: DiagnosticSeverity.Error, code: 'code-syntax' });
    expect(found?.message).toBe("this `js` code does not compile: Unexpected token ';'");
    await change('tide.mld', '+ 1;', at(2, 11, 13));
    expect(await problems('tide.mld', ({ length }) => length === 0)).toEqual([]);
  });

  it('reach across imports, in files that are open and in those on the disk', async () => {
    const { open, change, problems } = await start({ 'lib.mld': 'exe @draw(x) = `@x`\nexport { @draw }\n' });
    await open('main.mld', 'import { @draw, @sink } from "./lib.mld"\nshow @draw(1)\n');
    const [found] = await problems('main.mld', ({ length }) => length === 1);
    expect(found?.message).toContain('@sink is not exported by ./lib.mld');
    expect(found?.range).toEqual(at(0, 16, 21));
    // The library is opened and gets the function, without being saved.
    await open('lib.mld', 'exe @draw(x) = `@x`\nexe @sink(x) = `@x`\nexport { @draw, @sink }\n');
    await problems('main.mld', ({ length }) => length === 0);
    await change('lib.mld', 'exe @draw(x) = `@x\n');
    expect((await problems('main.mld', ({ length }) => length > 0))[0]?.message).toContain('has a syntax error');
    expect((await problems('lib.mld', ({ length }) => length > 0))[0]?.severity).toBe(DiagnosticSeverity.Error);
  });

  it('in an imported file that is not open are shown there, until the importer is closed', async () => {
    const { open, close, problems } = await start({ 'lib.mld': 'var @a = \n' });
    await open('main.mld', 'import "./lib.mld" as @lib\nshow @lib.a\n');
    expect((await problems('lib.mld', ({ length }) => length === 1))[0]?.code).toBe('syntax');
    await close('main.mld');
    await problems('lib.mld', ({ length }) => length === 0);
    await problems('main.mld', ({ length }) => length === 0);
  });

  it('follow the configuration of the project when it changes', async () => {
    const { open, write, problems } = await start();
    await open('tide.mld', 'show @tied\n');
    await problems('tide.mld', ({ length }) => length === 1);
    await write('mlld-config.json', '{ "validate": { "suppressWarnings": ["undefined-variable"] } }\n');
    await problems('tide.mld', ({ length }) => length === 0);
    await write('mlld-config.json', '{ nonsense\n');
    expect((await problems('tide.mld', ({ length }) => length === 1))[0]).toMatchObject({ code: 'CONFIG_INVALID', range: at(0, 0, 0) });
  });
});

describe('the problems of other files', () => {
  it('in templates are names that no function gives', async () => {
    const { open, problems } = await start({ 'main.mld': 'exe @card(name) = template "./card.att"\nshow @card("Ada")\n' });
    await open('card.att', 'Dear @nmae\n');
    expect(await problems('card.att')).toMatchObject([{ range: at(0, 5, 10), code: 'template-parameter' }]);
  });

  it('in pipelines are those of syntax and lint', async () => {
    const { open, change, problems } = await start();
    await open('two.dot', 'digraph two { start [shape=Mdiamond]; done [shape=Msquare]; start -> done }\n');
    expect(await problems('two.dot')).toEqual([]);
    await change('two.dot', 'digraph two { start [shape=Mdiamond] start -> done }\n');
    const found = await problems('two.dot', ({ length }) => length > 0);
    expect(found.some(({ severity }) => severity === DiagnosticSeverity.Error)).toBe(true);
    await change('two.dot', 'digraph {}\n');
    expect(await problems('two.dot', ([first]) => first?.code === 'dot_graph_name')).toHaveLength(1);
  });

  it('in workflow scripts are those of the dialect, and other JavaScript has none', async () => {
    const { open, problems } = await start();
    const meta = "export const meta = { name: 'audit', description: 'Counts' }\n";
    await open('audit.js', `${meta}const now = Date.now()\nreturn now\n`);
    expect(await problems('audit.js')).toMatchObject([{ code: 'WORKFLOW_CLOCK', severity: DiagnosticSeverity.Warning }]);
    await open('broken.js', `${meta}const x = \n`);
    expect(await problems('broken.js')).toMatchObject([{ code: 'WORKFLOW_SYNTAX', severity: DiagnosticSeverity.Error }]);
    await open('other.js', 'import fs from "node:fs"\nlet = \n');
    expect(await problems('other.js')).toEqual([]);
  });
});
