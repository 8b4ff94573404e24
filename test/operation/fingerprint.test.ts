/** Fingerprints: what changes them, and when they are computed again. design.md 3. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import type { Exe, Guard } from '../../grammar/ast.js';
import { createModule } from '../../src/language/source-module.js';
import { interceptor } from '../../src/hooks/interceptor.js';
import { definitionOf, fingerprintOf } from '../../src/operation/fingerprint.js';
import { definitionFor, withInterceptors } from '../../src/operation/interceptors.js';
import { Executable } from '../../src/runtime/definitions/executable.js';
import type { Module } from '../../src/runtime/module.js';
import { annotate } from '../../src/values/value.js';
import { bareRun, WITHOUT_INTERCEPTORS } from '../support/bare-run.js';

const keyed = async (text: string): Promise<string> => `keyed ${text.length}`;

function statement(text: string): unknown {
  return parseScript(text, { mode: 'strict' }).statements[0];
}

function moduleOf(text = ''): Module {
  return createModule({ path: '/p/a.mld', display: 'a.mld', directory: '/p', text });
}

function fn(text: string, module = moduleOf(text)): Executable {
  return new Executable(statement(text) as Exe, module);
}

async function print(executable: Executable): Promise<string> {
  return (await definitionOf(executable, keyed)).fingerprint;
}

describe('a fingerprint', () => {
  it('is the same for another layout and other places', async () => {
    expect(await print(fn('exe @f(a) = `x @a`'))).toBe(await print(fn('\n\nexe  @f( a )  =  `x @a`')));
  });

  it('is the same whatever the function says about how its calls are executed, but not about their results', async () => {
    const plain = await print(fn('exe llm @f(a) = cmd { ask "@a" }'));
    const how = '{ retries: 2, timeout: 30s, lane: "x", model: "m", maxCost: 1, onFailure: "marker", partial: true, repair: false }';
    expect(await print(fn(`exe llm @f(a) = cmd { ask "@a" } with ${how}`))).toBe(plain);
    expect(await print(fn('exe llm @f(a) = cmd { ask "@a" } with { reply: "claude" }'))).not.toBe(plain);
    expect(await print(fn('exe llm @f(a) = cmd { ask "@a" } with { schema: { "type": "object" } }'))).not.toBe(plain);
  });

  it('follows the content of a fixed schema, however it is written', async () => {
    const withSchema = (option: string, digest: string): Promise<string> => {
      const executable = fn(`exe llm @f(a) = cmd { ask "@a" } with { schema: ${option} }`);
      executable.schema = { digest, problemsIn: () => [] };
      return print(executable);
    };
    const one = await withSchema('{ "type": "object" }', 'd1');
    expect(await withSchema('"shapes/one.json"', 'd1')).toBe(one);
    expect(await withSchema('"shapes/one.json"', 'd2')).not.toBe(one);
  });

  it('differs for another body', async () => {
    expect(await print(fn('exe @f(a) = `x @a`'))).not.toBe(await print(fn('exe @f(a) = `y @a`')));
  });

  it('follows the outer variables that the function uses, and no others', async () => {
    const module = moduleOf();
    const executable = fn('exe @f() = `x @tide`', module);
    const before = await print(executable);
    module.scope.define({ name: 'wind', value: 'east', kind: 'var' });
    expect(await print(executable)).toBe(before);
    module.scope.define({ name: 'tide', value: 'high', kind: 'var' });
    expect(await print(executable)).not.toBe(before);
  });

  it('follows the functions that it calls', async () => {
    const module = moduleOf();
    const executable = fn('exe @f() = @g()', module);
    module.scope.define({ name: 'g', value: fn('exe @g() = `1`', module), kind: 'exe' });
    const before = await print(executable);
    module.scope.define({ name: 'g', value: fn('exe @g() = `2`', module), kind: 'exe' });
    expect(await print(executable)).not.toBe(before);
  });

  it('is computed once while no module changes', async () => {
    const executable = fn('exe @f() = `1`');
    const first = await definitionOf(executable, keyed);
    expect(definitionOf(executable, keyed)).toBe(first);
  });

  it('has a secret variable only as a keyed digest, without a preview', async () => {
    const module = moduleOf();
    module.scope.define({ name: 'pin', value: annotate('4411', { labels: ['secret'] }), kind: 'var' });
    const { parts } = await definitionOf(fn('exe @f() = `x @pin`', module), keyed);
    expect(parts.at(-1)).toEqual({ kind: 'variable', name: 'pin', digest: 'keyed 6' });
  });

  it('depends on the order of its parts', () => {
    const [a, b] = [
      { kind: 'body', name: 'a', digest: '1' },
      { kind: 'body', name: 'b', digest: '2' },
    ] as const;
    expect(fingerprintOf([a, b])).not.toBe(fingerprintOf([b, a]));
  });
});

describe('guards and hooks', () => {
  const guard = (): ReturnType<typeof interceptor> =>
    interceptor(statement('guard before op:exe = when [ * => deny "no" ]') as Guard, moduleOf());

  it('are a part of the definition each, with a number from the second of a name on', async () => {
    const own = await definitionOf(fn('exe @f() = `1`'), keyed);
    const { parts, fingerprint } = await withInterceptors(own, [guard(), guard()], keyed);
    expect(parts.slice(1).map(({ kind, name }) => `${kind} ${name}`)).toEqual(['guard before op:exe', 'guard before op:exe #2']);
    expect(fingerprint).not.toBe(own.fingerprint);
  });

  it('are none where nothing is registered, and inside a guard', () => {
    const definition = { fingerprint: 'f', parts: [] } as never;
    const active = { ...WITHOUT_INTERCEPTORS, active: true, holding: () => expect.fail('looked up') };
    const { run, frame } = bareRun({ interceptors: active });
    const call = {
      run,
      op: frame.op,
      operation: { kind: 'exe', segment: 'f', name: 'f', labels: [], inputs: [] },
      llm: {
        request: () => expect.fail('formed'),
        definition: () => definition,
        fn: 'f',
        options: () => ({}),
        isCommand: false,
        labels: [],
        sources: [],
      },
      secret: false,
      suppress: 'all',
      loop: undefined,
      restore: async () => undefined,
    } as const;
    expect(definitionFor(call)).toBe(definition);
  });
});
