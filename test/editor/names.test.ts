/** Names in scripts: definitions, hovers, completions, renames and the outline. */
import {
  CompletionRequest, DefinitionRequest, DocumentSymbolRequest, HoverRequest, PrepareRenameRequest, RenameRequest, type CompletionItem,
  type DocumentSymbol, type Location, type MarkupContent, type TextEdit,
} from 'vscode-languageserver-protocol/node'; // prettier-ignore
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { startEditor, withCursor, type EditorSession } from './support/editor-session.js';

const LIB = `>> Draws a picture.
>> [Not](a://link)
exe @draw(name, size) = \`@name of @size\`
exe @frame(x) = js { return x }
var @conf = { colours: { sky: "blue" }, list: ["a"] }
export { @draw, @frame, @conf }
`;

let editor: EditorSession;

beforeAll(async () => {
  editor = await startEditor({
    'lib.mld': LIB,
    'again.mld': 'import { @draw as @paint } from "./lib.mld"\nexport { @paint }\n',
    'card.att': 'Dear @who\n',
    'used.mld': 'var @tide = 3\n',
    'user.mld': 'import { @tide } from "./used.mld"\nshow `@tide`\n',
  });
});

afterAll(() => editor.end());

const isFields = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

let files = 0;

/** Shows a text in a file of its own; `|` is where the cursor is. */
async function show(marked: string, name = `text-${(files += 1)}.mld`) {
  const { text, position } = withCursor(marked);
  await editor.open(name, text);
  return { textDocument: editor.document(name), position, text };
}

describe('the definition of a name', () => {
  const definition = async (marked: string): Promise<[file: string, line: number, character: number] | null> => {
    const found = (await editor.connection.sendRequest(DefinitionRequest.type, await show(marked))) as Location | null;
    return (
      found && [
        found.uri
          .split('/')
          .at(-1)
          ?.replace(/text-\d+/, 'own') ?? '',
        found.range.start.line,
        found.range.start.character,
      ]
    );
  };

  it.each([
    ['a variable', 'var @tide = 3\nshow `@ti|de`\n', 'own.mld', 0, 5],
    ['a function that is called above it', 'exe @a() = @b|(1)\nexe @b(x) = `@x`\n', 'own.mld', 1, 5],
    ['a parameter', 'exe @b(size, x) = `@x|`\n', 'own.mld', 0, 13],
    ['the item of a loop', 'var @l = [1]\nfor @item in @l [\n  show `@ite|m`\n]\n', 'own.mld', 1, 5],
    ['a variable of a block', 'for @item in [1] [\n  let @m = @item\n  show `@m|`\n]\n', 'own.mld', 1, 7],
    ['a name in an export list', 'var @tide = 3\nexport { @tid|e }\n', 'own.mld', 0, 5],
    ['the function of a hook', 'exe @b(x) = `@x`\nhook before @|b = [ log "b" ]\n', 'own.mld', 0, 5],
    ['an imported function', 'import { @draw } from "./lib.mld"\nshow @dra|w("a", 1)\n', 'lib.mld', 2, 5],
    ['a function under another name', 'import { @draw as @d } from "./lib.mld"\nshow @d|("a", 1)\n', 'lib.mld', 2, 5],
    ['a function that is passed on', 'import { @paint } from "./again.mld"\nshow @paint|("a", 1)\n', 'lib.mld', 2, 5],
    ['a member of a module', 'import "./lib.mld" as @lib\nshow @lib.fra|me(1)\n', 'lib.mld', 3, 5],
    ['the path of an import', 'import "./li|b.mld" as @lib\nshow @lib.frame(1)\n', 'lib.mld', 0, 0],
    ['the path of a template', 'exe @card(who) = template "./ca|rd.att"\n', 'card.att', 0, 0],
    ['a name above a broken statement', 'var @tide = 3\nshow `@ti|de`\nvar @x = [\n', 'own.mld', 0, 5],
    ['a name below a broken statement', 'var @x = [\nvar @tide = 3\nshow `@ti|de`\n', 'own.mld', 1, 5],
    ['a name of a document', '# Tide\n\n/var @tide = 3\n\n/show `@ti|de`\n', 'own.mld.md', 2, 6],
  ])('%s', async (_, marked, file, line, character) => {
    if (file !== 'own.mld.md') return expect(await definition(marked)).toEqual([file, line, character]);
    const found = (await editor.connection.sendRequest(DefinitionRequest.type, await show(marked, 'text.mld.md'))) as Location;
    return expect(found.range.start).toEqual({ line, character });
  });

  it('is none for what no file declares', async () => {
    expect(await definition('show `@no|w @ghost`\n')).toBeNull();
    expect(await definition('show `@now @gho|st`\n')).toBeNull();
    expect(await definition('import "./missing.mld" as @m\nshow `@m.a|b`\n')).toBeNull();
  });
});

describe('a hover', () => {
  const hover = async (marked: string): Promise<string | undefined> =>
    ((await editor.connection.sendRequest(HoverRequest.type, await show(marked)))?.contents as MarkupContent | undefined)?.value;

  it('shows the definition and the comment above it', async () => {
    expect(await hover('>> How high.\nvar @tide = 3\nshow `@ti|de`\n')).toBe('```mlld\nvar @tide = 3\n```\n\nHow high.');
  });

  it('shows those of another file, where a comment is no Markdown', async () => {
    expect(await hover('import { @draw } from "./lib.mld"\nshow @dra|w("a", 1)\n')).toBe(
      '```mlld\nexe @draw(name, size) = `@name of @size`\n```\n\nDraws a picture.  \n\\[Not\\]\\(a://link\\)\n\nfrom lib.mld',
    );
  });

  it('ends no fence inside a text, and shortens a long definition', async () => {
    const text = `exe @long(x) = \`\n\`\`\`${'\nline'.repeat(20)}\`\nshow @lon|g(1)\n`;
    const shown = await hover(text.replace('\n```', ''));
    expect(shown).toMatch(/^```mlld\nexe @long\(x\) = `\n(?:line\n){11}…\n```$/);
    expect(await hover('exe @f(x) = ::\n```js\n@x\n```\n::\nshow @f|(1)\n')).toMatch(/^````mlld\n[^]*\n````$/);
  });

  it('describes built-in names, and is none beside names', async () => {
    expect(await hover('show @n|ow\n')).toContain('the time as ISO text in UTC');
    expect(await hover('var @a = " x" | @tr¦im\n')).toContain('text without blanks around it');
    expect(await hover('sh|ow "x"\n')).toBeUndefined();
  });
});

describe('completion', () => {
  const complete = async (marked: string): Promise<readonly CompletionItem[]> =>
    (await editor.connection.sendRequest(CompletionRequest.type, await show(marked))) as readonly CompletionItem[];
  const labels = async (marked: string): Promise<readonly string[]> => (await complete(marked)).map(({ label }) => label);

  it('offers the variables in scope, and functions with their parameters', async () => {
    const found = await complete('var @tide = 3\nexe llm @ask(q, n) = `@q @n`\nshow @|\nvar @later = 1\n');
    expect(found.slice(0, 2)).toMatchObject([
      { label: 'tide', detail: '3' },
      { label: 'ask', detail: '(q, n) [llm]' },
    ]);
    expect(found.map(({ label }) => label)).toEqual(expect.arrayContaining(['now', 'trim', 'payload']));
    expect(found.map(({ label }) => label)).not.toContain('later');
  });

  it('offers parameters and all names of the file in a function, and the names of a block in it alone', async () => {
    const inside = await labels('exe @f(size) = [\n  let @own = 1\n  => @|\n]\nvar @later = 1\n');
    expect(inside).toEqual(expect.arrayContaining(['size', 'own', 'f', 'later']));
    const outside = await labels('exe @f(size) = [\n  let @own = 1\n  => @own\n]\nshow @|\n');
    expect(outside).not.toEqual(expect.arrayContaining(['size']));
    expect(outside).not.toEqual(expect.arrayContaining(['own']));
  });

  it.each([
    ['an open call', 'var @tide = 3\nshow @draw(@|\n'],
    ['an open text', 'var @tide = 3\nshow `high: @ti|\n'],
    ['an open array', 'var @tide = 3\nvar @l = [1, @|\nshow "x"\n'],
    ['a condition that is not complete', 'var @tide = 3\nif @|\n'],
    ['a statement behind a broken one', 'var @tide = 3\nvar @x = }\nshow @|\n'],
  ])('offers names in %s', async (_, marked) => {
    expect(await labels(marked)).toContain('tide');
  });

  it('offers the fields of known objects, behind them methods', async () => {
    const marked = 'var @conf = { colours: { sky: "blue" }, list: ["a"] }\nshow `@conf|`\n';
    expect((await labels(marked.replace('|', '.|'))).slice(0, 2)).toEqual(['colours', 'list']);
    expect((await labels(marked.replace('|', '.colours.|')))[0]).toBe('sky');
    const text = await labels(marked.replace('|', '.colours.sky.to|'));
    expect(text).toContain('toUpperCase');
    const array = await labels(marked.replace('|', '.list.|'));
    expect(array).toContain('join');
    expect(array).not.toContain('toUpperCase');
  });

  it('offers what a module exports, and fields of what is imported from it', async () => {
    expect(await labels('import "./lib.mld" as @lib\nshow @lib.|\n')).toEqual(expect.arrayContaining(['draw', 'frame', 'conf']));
    expect((await labels('import { @conf } from "./lib.mld"\nshow `@conf.|`\n'))[0]).toBe('colours');
  });

  it('offers transformers and functions behind a bar, with their at sign', async () => {
    const found = await labels('exe @wrap(x) = `@x`\nvar @a = " x" | ¦\n');
    expect(found).toEqual(expect.arrayContaining(['@wrap', '@trim', '@parse']));
  });

  it('offers the options of `with`, and the words that begin a statement', async () => {
    expect(await labels('exe llm @ask(q) = `@q` with { re|\n')).toEqual(expect.arrayContaining(['retries', 'reply', 'timeout', 'schema']));
    expect(await labels('ex|\n')).toEqual(expect.arrayContaining(['exe', 'import', 'checkpoint']));
    const inBlock = await labels('if true [\n  s|\n]\n');
    expect(inBlock).toContain('show');
    expect(inBlock).not.toContain('import');
  });

  it('offers what the module of an import list exports, that of an export list, and files for a path', async () => {
    expect(await labels('import { @| } from "./lib.mld"\n')).toEqual(['draw', 'frame', 'conf']);
    expect(await labels('import {\n  @draw,\n  f|\n} from "./lib.mld"\n')).toEqual(['@frame', '@conf']);
    expect(await labels('import { @| } from "./gone.mld"\n')).toEqual([]);
    expect(await labels('var @tide = 3\nexport { @| }\n')).toEqual(['tide']);
    expect(await labels('import { @draw } from "./|"\n')).toEqual(expect.arrayContaining(['lib.mld', 'card.att']));
  });

  it('offers the fields of `@mx` that a run has, and the metadata of a value', async () => {
    const { stdout } = await callCli(['-e', 'var @mx_now = @mx\nshow @mx_now'], { cwd: editor.folder });
    const context = JSON.parse(stdout) as { readonly [field: string]: unknown };
    expect(await labels('show `@mx.|`\n')).toEqual(Object.keys(context));
    const nested = Object.entries(context).filter(([name, value]) => name !== 'usage' && isFields(value));
    expect(nested.length).toBeGreaterThan(5);
    for (const [name, fields] of nested) expect(await labels(`show \`@mx.${name}.|\`\n`)).toEqual(Object.keys(fields as object));
    expect(await labels('var @f = <a.md>\nshow `@f.mx.|`\n')).toEqual(expect.arrayContaining(['filename', 'fm', 'labels', 'cost']));
    expect(await labels('var @tide = 3\nshow `@tide.|`\n')).toContain('mx');
  });

  it('offers parameters in templates: in double braces, and in a file of their own', async () => {
    expect(await labels('exe @t(who) = :::\nDear {{w|}}\n:::\n')).toContain('who');
    await editor.write('maker.mld', 'var @sign = "Ada"\nexe @post(who, day) = template "./post.att"\n');
    const { position, text } = withCursor('Dear @who, @|\n');
    await editor.open('post.att', text);
    const found = await editor.connection.sendRequest(CompletionRequest.type, { textDocument: editor.document('post.att'), position });
    expect(found).toMatchObject([{ label: 'who', detail: 'parameter' }, { label: 'day' }, { label: 'sign' }, { label: 'post' }]);
  });

  it('offers attributes, their values and nodes in a pipeline', async () => {
    const inPipeline = async (statement: string): Promise<readonly string[]> => {
      const marked = `digraph g {\n  graph [goal="x"] // not a [node]\n  start [shape=Mdiamond]\n  work [prompt="a -> b"]\n  ${statement}\n}\n`;
      const { textDocument, position } = await show(marked, `text-${(files += 1)}.dot`);
      const found = (await editor.connection.sendRequest(CompletionRequest.type, { textDocument, position })) as readonly CompletionItem[];
      return found.map(({ label }) => label);
    };
    expect(await inPipeline('start -> |')).toEqual(['start', 'work']);
    expect(await inPipeline('|')).toEqual(['start', 'work', 'graph', 'node', 'edge', 'subgraph']);
    expect(await inPipeline('done [|]')).toEqual(expect.arrayContaining(['shape', 'prompt', 'goal_gate']));
    expect(await inPipeline('graph [|]')).toEqual(expect.arrayContaining(['goal', 'max_jumps']));
    expect(await inPipeline('start -> work [label="x", |]')).toEqual([
      'label',
      'condition',
      'weight',
      'fidelity',
      'thread_id',
      'loop_restart',
    ]);
    expect(await inPipeline('start -> work [condition="|"]')).toContain('outcome=success');
    expect(await inPipeline('done [shape=|]')).toContain('Msquare');
    expect(await inPipeline('done [join_policy=|]')).toEqual(['wait_all', 'first_success', 'k_of_n', 'quorum']);
    expect(await inPipeline('done [goal_gate=|]')).toEqual(['true', 'false']);
    expect(await inPipeline('done [retry_target=|]')).toEqual(['start', 'work', 'done']);
    expect(await inPipeline('done [prompt="write |"]')).toEqual([]);
  });

  it('offers nothing in a comment', async () => {
    expect(await labels('var @tide = 3\n>> mail to @|\n')).toEqual([]);
  });
});

describe('rename', () => {
  async function rename(marked: string, newName: string): Promise<string> {
    const { text, ...params } = await show(marked);
    const edit = await editor.connection.sendRequest(RenameRequest.type, { ...params, newName });
    return applied(text, edit?.changes?.[params.textDocument.uri] ?? []);
  }

  it('changes every place in the file', async () => {
    const marked =
      'exe llm @as|k(q) = `@q`\nhook before @ask = [ log "x" ]\nvar @a = @ask("1")\nvar @b = "2" | @ask\nshow `@ask.q @a @b`\nexport { @ask }\n';
    expect(await rename(marked, '@inquire')).toBe(withCursor(marked).text.replaceAll('@ask', '@inquire'));
  });

  it('changes a parameter or a variable of a block, and nothing of the same name elsewhere', async () => {
    expect(await rename('exe @f(x, y) = `@|x @y`\nexe @g(x) = `@x`\n', 'size')).toBe('exe @f(size, y) = `@size @y`\nexe @g(x) = `@x`\n');
    const marked = 'for @item in [1, 2] [\n  let @own = @ite|m\n  show `@own @item`\n]\nfor @item in [3] => @item\n';
    const expected = 'for @each in [1, 2] [\n  let @own = @each\n  show `@own @each`\n]\nfor @item in [3] => @item\n';
    expect(await rename(marked, 'each')).toBe(expected);
  });

  it('changes the name that an import gives, and not what the module calls it', async () => {
    expect(await rename('import { @draw as @d } from "./lib.mld"\nshow @|d("a", 1)\n', 'pen')).toBe(
      'import { @draw as @pen } from "./lib.mld"\nshow @pen("a", 1)\n',
    );
  });

  it.each([
    ['a built-in name', 'show @no|w\n', 'then', 'is a name of the language'],
    ['an imported name', 'import { @draw } from "./lib.mld"\nshow @dra|w("a", 1)\n', 'pen', 'comes from ./lib.mld'],
    ['a member of a module', 'import "./lib.mld" as @lib\nshow @lib.fra|me(1)\n', 'box', 'belongs to another file'],
    ['a name that is not declared', 'show `@gho|st`\n', 'x', 'is not declared in this file'],
    ['a parameter that code uses', 'exe @f(x|s) = js { return xs + 1 }\n', 'list', 'the js code uses xs'],
    ['a parameter that a template uses', 'exe @card(wh|o) = template "./card.att"\n', 'name', 'card.att uses @who'],
    ['a place without a name', 'sh|ow "x"\n', 'x', 'there is no name here'],
    ['a new name that is taken', 'var @ti|de = 3\nvar @moon = 1\n', 'moon', '@moon is in this file already'],
    ['a new name that is built in', 'var @ti|de = 3\n', 'now', '@now is a name of the language'],
    ['a new name that is none', 'var @ti|de = 3\n', '3 tides', 'is not a name'],
  ])('refuses %s', async (_, marked, newName, reason) => {
    await expect(rename(marked, newName)).rejects.toThrow(reason);
  });

  it('refuses a name that another file imports, before a new name is asked for', async () => {
    await editor.open('used.mld', 'var @tide = 3\n');
    const params = { textDocument: editor.document('used.mld'), position: { line: 0, character: 6 } };
    await expect(editor.connection.sendRequest(PrepareRenameRequest.type, params)).rejects.toThrow('user.mld imports @tide');
  });
});

it('lists the statements that have a name', async () => {
  const { textDocument } = await show(
    '|import "./lib.mld" as @lib\n>> Asks.\nexe llm @ask(q) = `@q`\nvar @a = @ask("1")\ncheckpoint "asked"\nhook @watch before @ask = [ log "x" ]\nshow @a\n',
  );
  const found = (await editor.connection.sendRequest(DocumentSymbolRequest.type, { textDocument })) as DocumentSymbol[];
  expect(found.map(({ name, detail, range }) => [name, detail, range.start.line, range.end.line])).toEqual([
    ['./lib.mld', undefined, 0, 0],
    ['@ask(q)', 'llm', 2, 2],
    ['@a', undefined, 3, 3],
    ['checkpoint asked', undefined, 4, 4],
    ['hook @watch', undefined, 5, 5],
  ]);
});

function applied(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split('\n');
  for (const { range, newText } of edits.toReversed()) {
    const line = lines[range.start.line] ?? '';
    lines[range.start.line] = line.slice(0, range.start.character) + newText + line.slice(range.end.character);
  }
  return lines.join('\n');
}
