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

  describe('with code of another language', () => {
    const lending = (language: string, texts: readonly string[], module = moduleOf()): Module => {
      module.shadows.set(
        language,
        texts.map((text) => fn(text, module)),
      );
      return module;
    };
    const partsOf = async (text: string, module: Module): Promise<string[]> => {
      const { parts } = await definitionOf(fn(text, module), keyed);
      return parts.slice(1).map(({ kind, name, inCode }) => `${kind} ${name}${inCode ? ' in code' : ''}`);
    };

    it('follows the variables that code lists, also inside a block', async () => {
      const module = moduleOf();
      module.scope.define({ name: 'tide', value: 'high', kind: 'var' });
      const texts = ['exe @f() = sh (@tide) { echo $tide }', 'exe @f() = [ let @x = js (@tide) { return tide }\n => @x ]'];
      for (const text of texts) expect(await partsOf(text, module)).toEqual(['variable tide in code']);
      const executable = fn(texts[0] as string, module);
      const before = await print(executable);
      module.scope.define({ name: 'tide', value: 'low', kind: 'var' });
      expect(await print(executable)).not.toBe(before);
    });

    it('has a listed secret only as a keyed digest, and what is referred to as well once', async () => {
      const module = moduleOf();
      module.scope.define({ name: 'pin', value: annotate('4411', { labels: ['secret'] }), kind: 'var' });
      const { parts } = await definitionOf(fn('exe @f() = sh (@pin) { echo $pin }', module), keyed);
      expect(parts.at(-1)).toEqual({ kind: 'variable', name: 'pin', digest: 'keyed 6', inCode: true });
      module.scope.define({ name: 'tide', value: 'high', kind: 'var' });
      expect(await partsOf('exe @f() = [ run sh (@tide) { echo $tide }\n => `@tide` ]', module)).toEqual(['variable tide']);
    });

    it('follows the functions that code is given and mentions, and those that they call', async () => {
      const set = ['exe @g(x) = js { return h(x) }', 'exe @h(x) = js { return 1 }', 'exe @other(x) = js { return 1 }'];
      const text = 'exe @f(a) = js { return g(a) }';
      expect(await partsOf(text, lending('js', set))).toEqual(['function g in code', 'function h in code']);
      const edited = set.map((each) => each.replace('return 1', 'return 2'));
      expect(await print(fn(text, lending('js', edited)))).not.toBe(await print(fn(text, lending('js', set))));
    });

    it('has no part for functions of another language, or hidden by a parameter', async () => {
      const module = lending('js', ['exe @g(x) = js { return 1 }']);
      const bare = fn('exe @f(a) = js { return a }');
      expect(await print(fn('exe @f(a) = js { return a }', module))).toBe(await print(bare));
      for (const text of ['exe @f(g) = js { return g }', 'exe @f(a) = node { return g(a) }', 'exe @f(a) = js { return gg(a) }'])
        expect(await partsOf(text, module)).toEqual([]);
    });
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
