/** Scopes, places in sources, and the members that contexts and frames always have. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import type { Exe, Expression } from '../../grammar/ast.js';
import { MlldError, placeOf } from '../../src/errors.js';
import { createModule } from '../../src/language/source-module.js';
import { OUTERMOST } from '../../src/runtime/context.js';
import { Bail, endsTheRun, locationOf, placesOf, rise, undefinedVariable } from '../../src/runtime/errors.js';
import { boundValue, callOutcome, callValue, lenient, outcomeOf, renderText, runStages } from '../../src/runtime/evaluator-ports.js';
import { Executable } from '../../src/runtime/definitions/executable.js';
import { PLAIN } from '../../src/runtime/frame.js';
import { Signal } from '../../src/runtime/completion.js';
import { positionOf, siteOf } from '../../src/runtime/position.js';
import { addReach, createReach } from '../../src/runtime/definitions/reachable-operations.js';
import { Scope } from '../../src/runtime/scope.js';
import { WorldError } from '../../src/world/world.js';
import { bareRun } from '../support/bare-run.js';

const module = createModule({ path: '/p/a.mld', display: 'a.mld', directory: '/p', text: 'one\ntwo @x\n' });

function fn(text: string): Executable {
  return new Executable(parseScript(text, { mode: 'strict' }).statements[0] as Exe, module);
}

describe('a scope', () => {
  it('finds the nearest binding', () => {
    const file = new Scope('module');
    const block = new Scope('block', new Scope('function', file));
    file.define({ name: 'a', value: 1, kind: 'var' });
    expect(block.find('a')?.value).toBe(1);
    block.define({ name: 'a', value: 2, kind: 'let' });
    expect([block.find('a')?.value, block.own('a')?.value, file.own('a')?.value]).toEqual([2, 2, 1]);
    expect(block.visible()).toEqual(['a', 'a']);
  });

  it('knows that a binding is shared with concurrent iterations', () => {
    const block = new Scope('block');
    block.define({ name: 'a', value: 1, kind: 'let' });
    const branch = new Scope('branch', block);
    branch.define({ name: 'b', value: 1, kind: 'let' });
    expect([branch.findForChange('a')?.shared, branch.findForChange('b')?.shared]).toEqual([true, false]);
  });

  it('refuses to hide a parameter or a name of the module, but not an ambient one', () => {
    const file = new Scope('module');
    file.define({ name: 'now', value: 1, kind: 'ambient' });
    file.define({ name: 'a', value: 1, kind: 'var' });
    const inside = new Scope('function', file);
    inside.define({ name: 'p', value: 1, kind: 'param' });
    expect(['now', 'a', 'p', 'x'].map((name) => inside.takenFor(name)?.name)).toEqual([undefined, 'a', 'p', undefined]);
  });

  it('counts the changes of a module', () => {
    const file = new Scope('module');
    file.define({ name: 'a', value: 1, kind: 'var' });
    expect([file.version, [...file.entries()].length]).toEqual([1, 1]);
  });
});

describe('a place', () => {
  it('has line and column', () => {
    expect(positionOf(module, 4)).toEqual({ line: 2, column: 1 });
    expect([siteOf(module, 8), siteOf(module, 8), module.sites.get(8)]).toEqual(['a.mld:2:5', 'a.mld:2:5', 'a.mld:2:5']);
    expect(placeOf(locationOf(module, 0))).toBe('a.mld:1:1');
  });

  it('is added to an error on its way up: first the location, then the trail', () => {
    const error = rise(rise(new MlldError('BAIL', 'no boat'), module, 8, '@x'), module, 0, 'show');
    expect(placesOf(error)).toBe(' (a.mld:2:5)\n  in show (a.mld:1:1)');
    expect(placesOf(new Error('x'))).toBe('');
  });

  it('is that of the call rather than of its statement, and that of the item rather than of its loop', () => {
    let error = rise(new MlldError('BAIL', 'no boat'), module, 0, 'bail');
    for (const [at, what] of [
      [8, '@fare'],
      [4, 'show'],
      [2, 'for @t, item 1 of 2: "x"'],
      [2, 'for'],
    ] as const)
      error = rise(error, module, at, what);
    expect((error as MlldError).trail.map(({ what }) => what)).toEqual(['@fare', 'for @t, item 1 of 2: "x"']);
  });

  it('is added to errors of the world and of too large texts, which become errors for users', () => {
    expect(rise(new WorldError('NO_FILE', 'gone'), module, 0, 'show')).toMatchObject({ code: 'NO_FILE', location: { at: 0 } });
    expect(rise(new RangeError('Invalid string length'), module, 0, 'show')).toMatchObject({ code: 'TEXT_TOO_LONG' });
    expect(rise('thrown', module, 0, 'show')).toBe('thrown');
  });

  it('is in the error of an unknown name, with the nearest known one', () => {
    const scope = new Scope('module');
    scope.define({ name: 'tide', value: 1, kind: 'var' });
    expect(undefinedVariable('tied', module, 4, scope)).toMatchObject({ code: 'UNKNOWN_VARIABLE', hint: 'did you mean @tide?' });
  });
});

it.each([
  [new Bail('stop', locationOf(module, 0)), true],
  [new WorldError('INTERRUPTED', 'x'), true],
  [new MlldError('COMMAND_FAILED', 'x'), false],
  [new TypeError('a broken invariant'), true],
])('%s ends the run: %s', (error, ends) => {
  expect(endsTheRun(error)).toBe(ends);
});

describe('an expression, evaluated through the frame', () => {
  const reference = { kind: 'reference', at: 0, name: 'x', steps: [] } as never as Expression;
  const literal = { kind: 'literal', at: 0, value: 1 } as Expression;

  it('is the bound value for a bare name', () => {
    const { frame } = bareRun();
    frame.scope.define({ name: 'x', value: 'high', kind: 'var' });
    expect([boundValue(reference, frame), boundValue(literal, frame)]).toEqual(['high', undefined]);
  });

  it('reaches the evaluator of the run', async () => {
    const { frame } = bareRun({ evaluate: async () => 'evaluated' });
    const evaluator = {
      lookUp: async () => undefined,
      call: async () => new Signal('done', 'carried', true),
      render: async () => 'text',
      stages: async () => 'staged',
      outcome: async () => 'outcome',
    };
    const through = { ...frame, run: { ...frame.run, evaluator } };
    const callee = fn('exe @f() = `1`');
    const details = { at: 0, called: ['f'] };
    expect(await lenient(reference, through)).toBeUndefined();
    expect(await lenient(literal, through)).toBe('evaluated');
    expect(await callOutcome(callee, [], through, details)).toBeInstanceOf(Signal);
    expect(await callValue(callee, [], through, details)).toBe('carried');
    expect([await renderText([], through), await runStages('x', [], through)]).toEqual(['text', 'staged']);
    expect(await outcomeOf({ kind: 'block', at: 0, statements: [] }, through)).toBe('outcome');
  });
});

describe('a function', () => {
  it('knows its code, its options, and the call that it forwards to', () => {
    expect(fn('exe @f() = sh { ls }').code?.language).toBe('sh');
    expect(fn('exe llm @f(a) = @g(@a) with { key: [@a] }')).toMatchObject({ forwarded: { name: 'g' }, keyOption: { kind: 'array' } });
    expect(fn('exe recursive @f() = `1`').isRecursive).toBe(true);
    expect(fn('exe @f() = when [ denied => "no"\n * => "yes" ]').deniedBody?.kind).toBe('when');
  });

  it('reaches the functions, operations and labels that its body names', () => {
    const reach = createReach();
    addReach(reach, fn('exe @f() = @mine.dig(@load())').body);
    expect([...reach.functions].sort()).toEqual(['dig', 'load', 'mine', 'mine.dig']);
    expect(reach.operations.has('exe')).toBe(true);
  });
});

it('contexts and frames begin with all their members, so that a copy with one replaced has the same shape', () => {
  const { frame } = bareRun();
  expect(Object.keys(frame.context).sort()).toEqual([...Object.keys(OUTERMOST), 'errors'].sort());
  expect(Object.keys(PLAIN).filter((name) => !(name in frame))).toEqual([]);
});
