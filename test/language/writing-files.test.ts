import { describe, expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const files = {
  '/p/port.json': '{"piers":[{"m":55.0}]}',
  '/p/a.txt': 'A\n',
  '/p/b.txt': 'B\n',
  '/p/lib/w.mld': 'exe @save(x) = [\n  output @x to "saved.txt"\n  => "ok"\n]\nexport { @save }',
};

/** Returns the text that the script wrote to `name`. */
async function writes(script: string, name: string): Promise<string | undefined> {
  const { world, error } = await runScript(script, { files });
  if (error) throw error;
  return world.files.get(`/p/${name}`);
}

describe('the text that output writes', () => {
  it.each([
    ['output "plain" to "o"', 'plain'],
    ['output {"a": 1} to "o"', '{\n  "a": 1\n}'],
    ['output [1, "x"] to "o"', '[\n  1,\n  "x"\n]'],
    ['var @n = 42\noutput @n to "o"', '42'],
    ['var @n = null\noutput @n to "o"', 'null'],
    ['var @f = <port.json>\noutput @f to "o"', '{"piers":[{"m":55.0}]}'],
    ['var @f = <port.json>\noutput @f.piers to "o"', '[\n  {\n    "m": 55\n  }\n]'],
    ['var @f = <*.txt>\noutput @f to "o"', 'A\n\n\nB\n'],
    ['var @f = <*.zip>\noutput @f to "o"', ''],
    ['var @s = \'{"q":1}\'\noutput @s to "o" as json', '{\n  "q": 1\n}\n'],
    ['var @s = \'{"q":1}\'\noutput @s to "o" as text', '{"q":1}'],
    ['output {"a": 1, "b": ["p"]} to "o" as yaml', 'a: 1\nb:\n  - p\n'],
    ['output "no json" to "o" as yaml', 'no json'],
    ['show "one"\nshow "two"\noutput to "o"', 'one\ntwo\n'],
    ['var @x = "v" | output to "o" | @upper', 'v'],
  ])('%s', async (script, text) => {
    expect(await writes(script, 'o')).toBe(text);
  });
});

describe('the target of output', () => {
  it.each([
    ['output "1" to here.txt', 'here.txt'],
    ['output "1" to "@root/out/there.txt"', 'out/there.txt'],
    ['var @n = "x"\noutput "1" to "@n\\.md"', 'x.md'],
    ['var @n = "x"\noutput "1" to \'@n.md\'', '@n.md'],
    ['import { @save } from "./lib/w.mld"\nvar @x = @save("1")', 'saved.txt'],
  ])('%s', async (script, name) => {
    expect(await writes(script, name)).toBe('1');
  });

  it('goes to the streams with one line end', async () => {
    const { shown, stderr } = await runScript('output "out" to stdout\noutput {"a": 1} to stderr');
    expect([shown, stderr]).toEqual(['out\n', '{\n  "a": 1\n}\n']);
  });

  it('names environment variables after the written variable', async () => {
    const { world } = await runScript('var @token = "t"\noutput @token to env\noutput "lit" to env\noutput @token.trim() to env:KEY');
    expect(Object.fromEntries(world.environment)).toEqual({ MLLD_TOKEN: 't', MLLD_OUTPUT: 'lit', KEY: 't' });
  });

  it('records writes to the state, and shows them when the run has one', async () => {
    const script = 'output {"n": 2} to "state://seen.deep"\noutput "x" to "state://who"';
    const withState = await runScript(`${script}\nshow @state.seen.deep.n\nshow @state.kept`, { state: { kept: 'k', seen: { old: 1 } } });
    expect(withState.shown).toBe('2\nk\n');
    expect(withState.run.state).toEqual({ kept: 'k', seen: { old: 1, deep: { n: 2 } }, who: 'x' });
    const without = await runScript(script);
    expect(without.run.stateWrites.map(({ path, value }) => [path, value])).toEqual([
      ['seen.deep', { n: 2 }],
      ['who', 'x'],
    ]);
  });
});

describe('append', () => {
  it.each([
    ['append "first" to "x.log"\nappend "second\\n" to "x.log"\nappend "" to "x.log"', 'x.log', 'first\nsecond\n\n'],
    ['append {"a": 1} to "x.log"', 'x.log', '{\n  "a": 1\n}\n'],
    ['append {"a": [1, 2]} to "x.jsonl"', 'x.jsonl', '{"a":[1,2]}\n'],
    ['append \'{"raw":   true}\' to "x.jsonl"', 'x.jsonl', '{"raw":true}\n'],
    ['append "plain words" to "x.jsonl"', 'x.jsonl', '"plain words"\n'],
    ['append "7" to "x.jsonl" as jsonl', 'x.jsonl', '7\n'],
    ['append "two\\nlines" to "X.JSONL"', 'X.JSONL', '"two\\nlines"\n'],
    ['var @x = "v" | append "x.log" | @upper', 'x.log', 'v\n'],
  ])('%s', async (script, name, text) => {
    expect(await writes(script, name)).toBe(text);
  });
});

describe('file and files', () => {
  it('write below the script, strings as they are and data as JSON', async () => {
    const { world, error } = await runScript(
      'file "w/o.json" = {"a": 1}\nfiles "src/" = [ { "i.js": "code", desc: "entry" }, { "c/d.txt": [1] } ]',
      {
        path: '/p/sub/s.mld',
      },
    );
    expect(error).toBeUndefined();
    expect(Object.fromEntries(world.files)).toEqual({
      '/p/sub/w/o.json': '{\n  "a": 1\n}',
      '/p/sub/src/i.js': 'code',
      '/p/sub/src/c/d.txt': '[\n  1\n]',
    });
  });
});

describe('writes that are refused', () => {
  it.each([
    ['output @ghost to "x"', 'UNKNOWN_VARIABLE', 'ghost'],
    ['var @p = ""\noutput "x" to "@p"', 'EMPTY_PATH', 'empty'],
    ['var @p = {"a": 1}\noutput "x" to "@p"', 'PATH_NOT_TEXT', 'object'],
    ['var @p = "a"\noutput "x" to "@p.txt"', 'PATH_FIELD', 'field access'],
    ['append {"a": 1} to "x.json"', 'APPEND_JSON', '.jsonl'],
    ['append {"a": 1} to "x.txt" as jsonl', 'APPEND_FORMAT', 'jsonl'],
    ['append "x" to "x.txt" as yaml', 'APPEND_FORMAT', 'yaml'],
    ['append "x" to stdout', 'APPEND_TARGET', 'stdout'],
    ['file "/abs.txt" = "a"', 'PATH_NOT_BELOW', 'relative'],
    ['file "../up.txt" = "a"', 'PATH_NOT_BELOW', '..'],
    ['files "src/" = [ { "../up.txt": "a" } ]', 'PATH_NOT_BELOW', '..'],
    ['files "src/" = "text"', 'BAD_FILES', 'not a list'],
    ['files "src/" = [ { "a": 1, "b": 2 } ]', 'BAD_FILES', 'a and b'],
  ])('%s', async (script, code, words) => {
    const { error, world } = await runScript(script);
    expect(error).toMatchObject({ code });
    expect(`${error?.message} ${error?.hint}`).toContain(words);
    expect(error?.location).toBeDefined();
    expect(world.files.size).toBe(0);
  });
});
