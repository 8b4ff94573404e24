import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SyntaxFailure } from '../../grammar/errors.js';
import { parseExpression, parseScript, parseTemplateFile } from '../../grammar/parse.js';

const valid = `resume: auto
---
title: x
---
import { @a as @b } from "./lib.mld"
var secret @ship = { name: "Ada @a", "tons": [1, 2.5, @x?], ...@rest }
exe llm @ask(q, model) = cmd { claude -p "@q" --model @model | head -1 } | @parse with { description: "d" }
exe @f(x) = when [
  let @y = @x + 1 >> remark
  @y > 3 && !denied => [ show \`<log.txt> @y? @ship.tons[0]|@upper\`; => 2 ]
  none => js { return { a: "}" } }
]
for parallel(3, 1s) @k, @v in @ship when @v [ @list += [@k] ]
var @r = for @x in [1, 2] => @x | @trim => | @sum || @max
when @r [ (0 || 1) => done; > 2 => continue (@n + 1); * => bail "no" ]
loop(10) until @input >= 2 [ if @a [ continue @n ] else [ done ] ]
guard @g before op:exe = when [ @input[0] == "a" => deny "no"; * => allow ]
hook @h after @f("p") = [ append @output to "log.jsonl" as jsonl ]
checkpoint "x" with { ttl: 1h }
show ::
/for @l in @list
- @l.name (<@dir/@l\\.md>)
/end
::
output <a.md # Birds, "x"?; !# Gulls as "## B"> | @f to "out/@x\\.txt"
=> @r ?? (1 == 2 ? 'a' : :::{{b}}:::)
`;

/** Imitates editing: something is cut out, doubled, moved or typed at the wrong place. */
const edited = fc
  .record({
    from: fc.nat({ max: valid.length }),
    length: fc.nat({ max: 40 }),
    to: fc.nat({ max: valid.length }),
    how: fc.constantFrom('cut', 'double', 'move', 'type'),
    typed: fc.stringMatching(/^[-@"'`[\](){}<>=|&!?:;,.#*+/\\ \n\ra-z0-9]{1,6}$/),
  })
  .map(({ from, length, to, how, typed }) => {
    const part = valid.slice(from, from + length);
    const rest = valid.slice(0, from) + valid.slice(from + length);
    if (how === 'cut') return rest;
    if (how === 'double') return valid.slice(0, from) + part + valid.slice(from);
    if (how === 'move') return rest.slice(0, to) + part + rest.slice(to);
    return valid.slice(0, from) + typed + valid.slice(from);
  });

const noise = fc.constantFrom(...'@"\'`[](){}<>=|&!?:;,.#*+-/\\ \n\r\t\0abx1é€\uFEFF\uD83D\u00A0');

describe('any text', () => {
  it('is a tree or a SyntaxFailure inside of the text, in strict and in Markdown mode', () => {
    parseScript(valid, { mode: 'strict' });
    fc.assert(
      fc.property(edited, fc.constantFrom('strict' as const, 'markdown' as const), (text, mode) => {
        expectTreeOrFailure(text, () => parseScript(text, { mode }));
      }),
      { numRuns: 400 },
    );
  });

  it('is a tree or a SyntaxFailure as a template file', () => {
    fc.assert(
      fc.property(edited, fc.constantFrom('att' as const, 'mtt' as const), (text, kind) => {
        expectTreeOrFailure(text, () => parseTemplateFile(text, kind));
      }),
      { numRuns: 100 },
    );
  });

  it('is a tree or a SyntaxFailure when it is noise', () => {
    fc.assert(
      fc.property(fc.string({ unit: noise, maxLength: 200 }), (text) => {
        expectTreeOrFailure(text, () => parseScript(text, { mode: 'strict' }));
      }),
    );
  });

  // Each of these would take longer than the age of the world if every opener doubled the time.
  it('does not take more time by a power than it has characters, also when it is wrong', () => {
    for (const broken of [
      (n: number) => `var @x = ${'['.repeat(n)}`,
      (n: number) => `var @x = ${'('.repeat(n)}1 +`,
      (n: number) => `var @x = ${'{ a: '.repeat(n)}`,
      (n: number) => `var @x = ${'@f('.repeat(n)}"`,
      (n: number) => `exe @f() = ${'when [ @x => '.repeat(n)}?`,
      (n: number) => `exe @f() = [ ${'for @x in @y => [ @f() '.repeat(n)}?`,
      (n: number) => `exe @f() = [ ${'if @x [ '.repeat(n)} ?`,
      (n: number) => `when @x [ ${'('.repeat(n)} ?`,
      (n: number) => `var @x = ${'@a ? '.repeat(n)}`,
      (n: number) => `output ${'[ '.repeat(n)} ?`,
      (n: number) => `show \`${'@f(`'.repeat(n)}`,
    ]) {
      expect(() => parseScript(broken(80), { mode: 'strict' })).toThrow(SyntaxFailure);
    }
  });
});

describe('a command with hundreds of quotes and brackets', () => {
  // Each of these would take longer than the age of the world if every opener doubled the time.
  it.each([
    ['backticks in pairs', (n: number) => '`date` '.repeat(n)],
    ['backticks without a partner', (n: number) => `\`${'`date` '.repeat(n)}`],
    ['fences in a quoted prompt', (n: number) => `"${'```js\nf()\n```\n'.repeat(n)}"`],
    ['quotes within backticks', (n: number) => '`a "b" \'c\'` '.repeat(n)],
    ['quoted backticks', (n: number) => '"a`b" '.repeat(n)],
    ['quoted expansions', (n: number) => '"${a:-" '.repeat(n)],
    ['substitutions without an end', (n: number) => '$( '.repeat(n)],
    ['nested substitutions', (n: number) => `${'"$('.repeat(n)}x${')"'.repeat(n)}`],
  ])('is a tree: %s', (_, command) => {
    expect(parseScript(`run cmd { ${command(300)} }`, { mode: 'strict' }).statements).toHaveLength(1);
  });

  it('is a SyntaxFailure where its braces are not closed', () => {
    expect(() => parseScript(`run cmd { ${'{ '.repeat(300)} }`, { mode: 'strict' })).toThrow(/Unclosed code block/);
  });

  it('ends a backtick at the next one, as the shell does', () => {
    expect(() => parseScript('run cmd { `echo "`; ls }', { mode: 'strict' })).toThrow(/`;` is not allowed/);
  });
});

describe('deep nesting', () => {
  it.each([
    ['arrays', '[', '1', ']'],
    ['objects', '{ a: ', '1', '}'],
    ['parentheses', '(', '1', ')'],
    ['calls', '@f(', '1', ')'],
    ['negations', '!', '@x', ''],
  ])('of a hundred %s is fine, a million is one clear error', (_what, open, core, close) => {
    const nested = (depth: number) => open.repeat(depth) + core + close.repeat(depth);
    expect(parseExpression(nested(100))).toBeDefined();
    expect(() => parseExpression(nested(1_000_000))).toThrow(/nested too deeply/);
  });

  it.each(['+ 1 ', '&& @x ', '?? @x '])('of a thousand operators (%s) is fine, of many more one clear error', (more) => {
    expect(parseExpression(`@x ${more.repeat(1000)}`)).toBeDefined();
    expect(() => parseExpression(`@x ${more.repeat(200_000)}`)).toThrow(expect.objectContaining({ code: 'NESTED_TOO_DEEPLY', at: 0 }));
  });

  it('of a hundred blocks is fine', () => {
    expect(parseScript(`if @x ${'[ if @x '.repeat(100)}[ show "x" ]${' ]'.repeat(100)}`, { mode: 'strict' }).statements).toHaveLength(1);
  });
});

it('refuses a source that is too long before it reads it', () => {
  expect(() => parseScript(' '.repeat(17 * 1024 * 1024), { mode: 'strict' })).toThrow(
    expect.objectContaining({ code: 'SOURCE_TOO_LARGE' }),
  );
});

function expectTreeOrFailure(text: string, parse: () => unknown): void {
  try {
    expect(parse()).toBeTypeOf('object');
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    expect(error.at).toBeGreaterThanOrEqual(0);
    expect(error.at).toBeLessThanOrEqual(text.length);
  }
}
