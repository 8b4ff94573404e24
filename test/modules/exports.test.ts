/** The names that a module exports. world.md 12.1. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { exportedInterceptors, exportedValues } from '../../src/modules/exports.js';
import { testFrame } from '../support/test-frame.js';

const BODY = 'var @a = 1\nexe @f() = "f"\nguard @watch before op:exe = when [ * => allow ]\n';

/** Evaluates a module with these export statements. */
async function moduleWith(statements: string): Promise<Parameters<typeof exportedValues>> {
  const text = BODY + statements;
  const { frame } = await testFrame({ script: text });
  return [parseScript(text, { mode: 'strict' }), frame.module];
}

describe('a module', () => {
  it.each([
    ['', ['a', 'f'], ['watch']],
    ['export { * }', ['a', 'f'], ['watch']],
    ['export { @f }', ['f'], []],
    ['export { @a }\nexport { f }', ['a', 'f'], []],
    ['export { @a, @watch }', ['a'], ['watch']],
  ])('with "%s" exports %j and activates %j by name', async (statements, values, interceptors) => {
    const module = await moduleWith(statements);
    expect([...exportedValues(...module).keys()]).toEqual(values);
    expect([...exportedInterceptors(...module)]).toEqual(interceptors);
  });

  it('that exports a name which it does not define is refused, at that name', async () => {
    const module = await moduleWith('export { @a, @ff }');
    expect(() => exportedValues(...module)).toThrow(
      expect.objectContaining({
        code: 'EXPORT_UNDEFINED',
        hint: 'did you mean @f?',
        location: expect.objectContaining({ at: BODY.length + 'export { @a, '.length }) as unknown,
      }),
    );
  });
});
