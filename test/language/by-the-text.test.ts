/** Rules of the language reference that no conformance case asks for, a line each: script, what it shows, or what its error says. */
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/script-run.js';

const files = { '/p/a.txt': 'file' };

async function outcomeOf(script: string): Promise<{ shown: string; warnings: readonly string[]; error: string }> {
  const { shown, warnings, error } = await runScript(script, { files });
  return { shown: shown.replace(/\n$/, ''), warnings, error: error ? `${error.code} ${error.message}` : '' };
}

describe('values', () => {
  it.each([
    // 8.2: a question mark behind a field has no effect in an expression.
    [
      'var @o = {a: 5}\nvar @x = [@o.a? + 1, @o.a? > 1, @o.a? ? "yes" : "no", @o.none? ?? "d", true ? @o.a? : 3]\nshow `is @x`',
      'is [6,true,"yes","d",5]',
    ],
    ['var @o = {a: 5}\nvar @x = @o.a? - 1 # note\nvar @y = @o.a ? -1 : 1\nshow `is @x @y`', 'is 4 -1'],
    // 11.2: JSON text that leaves a function is the value at once, and keeps its text.
    ['exe @mk() = `{"a":  [1, 2]}`\nvar @x = @mk()\nshow `is @x.a @x`', 'is [1,2] {"a":  [1, 2]}'],
    ["exe @mk() = [ => '[1]' ]\nshow @mk().length", '1'],
    ['exe @id(x) = ` @x `\nexe @k(x) = `k=@x.k`\nvar @w = "{\\"k\\": 5}" | @id | @k\nshow @w', 'k=5'],
    ['exe @mk() = `[no json]`\nvar @x = @mk()\nshow @x.length', '9'],
    // 15.1: labels of a show.
    ['var @x = 1\nshow secret, pii @x\nshow note "t"\nif true [ show a @x; show b `q` ]\nshow note <a.txt>', '1\nt\n1\nq\nfile'],
  ])('%s', async (script, shown) => {
    expect(await outcomeOf(script)).toEqual({ shown, warnings: [], error: '' });
  });

  it('takes the labels of a show for those of the operation', async () => {
    const script = 'guard @g before outgoing = when [ * => deny "stays here" ]\nvar @x = 1\nshow @x\nshow outgoing @x';
    const { shown, error } = await outcomeOf(script);
    expect(shown).toBe('1');
    expect(error).toContain('stays here');
  });
});

describe('control', () => {
  it.each([
    // 14, 15, 25: null outside of a loop, all three.
    ['show `@mx.loop.iteration @mx.loop.limit @mx.loop.active @mx.while.active`', 'null null null null'],
    ['loop(1) [ show `@mx.loop.active` ]\nshow `@mx.loop.active`', 'true\nnull'],
  ])('%s', async (script, shown) => {
    expect(await outcomeOf(script)).toEqual({ shown, warnings: [], error: '' });
  });

  it.each(['for 2 parallel @x in [1] => show @x', 'for (2, 1ms) parallel @x in [1] [ show @x ]'])(
    'warns of the old form: %s',
    async (script) => {
      const { shown, warnings } = await outcomeOf(script);
      expect(shown).toBe('1');
      expect(warnings).toEqual(['`for N parallel` is the old form of `for parallel(N, PACE)` (main.mld:1:1)']);
    },
  );
});
