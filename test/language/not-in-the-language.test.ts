/** Each row of the page on what is not part of the language: what is written gets an error with what to use instead. */
import fs from 'node:fs';
import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { runScript } from '../support/in-fake-world.js';
import { analyze } from '../validate/support/files-in-memory.js';

/** Maps the first cell of a row to programs with it, and to words of the hint. */
const examples: { readonly [written: string]: { readonly sources: readonly string[]; readonly hint: RegExp } } = {
  '`policy @p = { … }`': {
    sources: ['policy @p = { deny: ["sh"] }', 'if true [\n  policy @p = { }\n]', 'import policy @p from "./p.mld"'],
    hint: /guard before op:sh/,
  },
  '`box [ … ]`, `env @e [ … ]`': {
    sources: [
      'box [ show "x" ]',
      'box @b with { tools: [] } [\n  show "x"\n]',
      'exe @f() = box @b [ show "x" ]',
      'env @e [\n  show "x"\n]',
    ],
    hint: /cmd:@dir/,
  },
  '`prose:@c { … }`': { sources: ['exe @f(x) = prose:@c { do it }'], hint: /exe llm @f\(x\)/ },
  '`sign`, `verify`': { sources: ['sign @x by "a"', 'verify @x', 'var @x = 1\nsign @x'], hint: /digests/ },
  '`profiles { … }`': { sources: ['profiles { full: { requires: { sh } } }'], hint: /needs \{ … \}/ },
  '`auth`, `using auth:`': { sources: ['auth @k = "KEY"', 'run cmd { ls } using auth:key'], hint: /var secret @key/ },
  '`import tools … mcp`': {
    sources: ['import tools from mcp "server" as @t', 'import { @a } from mcp "server"', 'import mcp "server"', 'import tools "x"'],
    hint: /exe @tool\(x\) = cmd/,
  },
  '`<a.ts { fn }>`': {
    sources: ['show <a.ts { fn }>', 'var @x = <a.ts { ?? }>', 'var @x = <src/*.ts { *Service }>'],
    hint: /<a\.md # Title>/,
  },
};

const page = fs.readFileSync(new URL('../../docs/not-in-the-language.md', import.meta.url), 'utf8');
const rows = page.split('\n').flatMap((line) => /^\| (`[^|]*`) +\|/.exec(line)?.[1] ?? []);

const ADDRESS = '`<https://…>`';

it('has an example of every row', () => {
  expect(rows.map((row) => row.trim()).toSorted()).toEqual([...Object.keys(examples), ADDRESS].toSorted());
});

it.each(Object.entries(examples).flatMap(([, { sources, hint }]) => sources.map((source) => [source, hint] as const)))(
  'is refused with what to use instead: %s',
  (source, hint) => {
    expect(() => parseScript(source, { mode: 'strict' })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('not part of this runtime') as string,
        hint: expect.stringMatching(hint) as string,
      }),
    );
  },
);

it.each([
  'var @x = <https://quay.example/a.txt>',
  'if true [ show <http://quay.example/@name> ]',
  'var @x = <https://quay.example/a # Tides>',
])('refuses an address where it is loaded, and warns of it before: %s', async (source) => {
  const script = `var @name = "a"\n${source}`;
  expect((await analyze(script)).warnings).toMatchObject([
    { code: 'loaded-address', line: 2, message: 'loading an address is not part of this runtime', hint: 'fetch it with `cmd { curl … }`' },
  ]);
  const { error } = await runScript(script);
  expect(error).toMatchObject({ hint: expect.stringContaining('fetch it with `cmd { curl … }`') as string });
});

it('leaves braces in other paths to their own message', () => {
  expect(() => parseScript('show <src/{a,b}.ts>', { mode: 'strict' })).toThrow(
    expect.objectContaining({ message: 'A path cannot contain `{`' }),
  );
});
