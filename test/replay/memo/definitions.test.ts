import { describe, expect, it } from 'vitest';
import type { DefinitionPart, Fact } from '../../../journal/event.js';
import { opPath, type Fingerprint } from '../../../journal/ids.js';
import {
  completeDefinition,
  definitionChanges,
  definitions,
  describeChange,
  describeEdit,
  editBetween,
  isRefused,
  UNEDITED,
  type RecordedDefinition,
} from '../../../replay/memo/definitions.js';
import { fold } from '../../../replay/fold/projection.js';
import { entries, runRef, started } from '../../support/written-runs.js';

const BODY: DefinitionPart = { kind: 'body', name: 'review', digest: 'a' };
const sentences = (before: readonly DefinitionPart[], now: readonly DefinitionPart[]): string[] =>
  definitionChanges(recorded(before), recorded(now)).map(describeChange);
const recorded = (parts: readonly DefinitionPart[], interceptors = true): RecordedDefinition => ({
  ...completeDefinition(parts),
  interceptors,
});

const model = (name: string): DefinitionPart => ({ kind: 'variable', name: 'model', digest: name, preview: `"${name}"` });

describe('what changed in a definition', () => {
  it.each<readonly [string, readonly DefinitionPart[], readonly DefinitionPart[]]>([
    ['its body was edited', [BODY], [{ ...BODY, digest: 'b' }]],
    ['@model was sonnet, is opus', [BODY, model('sonnet')], [BODY, model('opus')]],
    ['@lead was {"a":1}, is {"a":2}', [v('lead', '1', '{"a":1}')], [v('lead', '2', '{"a":2}')]],
    ['@key has another value', [v('key', '1')], [v('key', '2')]],
    ['@long has another value', [v('long', '1', '"aaa…')], [v('long', '2', '"aaa…')]],
    ['@helper was edited', [{ kind: 'function', name: 'helper', digest: '1' }], [{ kind: 'function', name: 'helper', digest: '2' }]],
    [
      'the template p.att was edited',
      [{ kind: 'template', name: 'p.att', digest: '1' }],
      [{ kind: 'template', name: 'p.att', digest: '2' }],
    ],
    [
      'the schema of @review was edited',
      [{ kind: 'schema', name: 'review', digest: '1' }],
      [{ kind: 'schema', name: 'review', digest: '2' }],
    ],
    ['the schema of @review was added', [BODY], [BODY, { kind: 'schema', name: 'review', digest: '1' }]],
    ['it uses @model now', [BODY], [BODY, model('opus')]],
    ['it does not use @model any more', [BODY, model('opus')], [BODY]],
  ])('%s', (sentence, before, now) => {
    expect(sentences(before, now)).toEqual([sentence]);
  });

  it('is one change of a variable that several functions use', () => {
    expect(sentences([BODY, model('sonnet'), model('sonnet')], [BODY, model('opus'), model('opus')])).toEqual([
      '@model was sonnet, is opus',
    ]);
    expect(sentences([BODY, model('opus')], [{ ...BODY, digest: 'b' }, model('opus'), model('opus')])).toEqual(['its body was edited']);
    const [mine, yours] = [v('depth', '1', '1'), v('depth', '2', '2')];
    expect(sentences([mine, yours], [yours, mine])).toEqual([]);
    expect(sentences([mine, yours], [mine, v('depth', '3', '3')])).toEqual(['@depth was 2, is 3']);
  });

  it('is nothing where nothing changed, and nothing is said of what is not known', () => {
    expect(sentences([BODY, model('opus')], [model('opus'), BODY])).toEqual([]);
    expect(definitionChanges(undefined, recorded([BODY]))).toEqual([]);
    expect(definitionChanges(recorded([BODY]), undefined)).toEqual([]);
  });
});

const at = (of: (fingerprint: Fingerprint) => RecordedDefinition, op = opPath('main/ask#0')) => ({ recorded: of, op });

describe('guards and hooks of a definition', () => {
  const guard = (digest: string): DefinitionPart => ({ kind: 'guard', name: '@quality', digest });
  const [bare, old, guarded, stricter] = [
    recorded([BODY]),
    recorded([BODY], false),
    recorded([BODY, guard('1')]),
    recorded([BODY, guard('2')]),
  ];
  const edit = (before: RecordedDefinition, now: RecordedDefinition) =>
    editBetween(
      'before' as Fingerprint,
      'now' as Fingerprint,
      at((fingerprint) => (fingerprint === 'now' ? now : before)),
    );

  it.each([
    ['guard @quality was added', bare, guarded],
    ['guard @quality was changed', guarded, stricter],
    ['guard @quality was taken away', guarded, bare],
    ['its definition was edited (its body was edited, guard @quality was added)', recorded([{ ...BODY, digest: 'b' }]), guarded],
  ])('%s', (sentence, before, now) => {
    expect(describeEdit(edit(before, now).changes)).toBe(sentence);
  });

  it('are told of only where both sides know which held', () => {
    expect(edit(old, guarded)).toEqual(UNEDITED);
    expect(edit(guarded, old)).toEqual(UNEDITED);
    expect(edit(recorded([{ ...BODY, digest: 'b' }], false), guarded)).toMatchObject({ definition: true, interceptors: false });
  });

  it('do not hold for what a guard does: a result that has passed one is none the worse there', () => {
    const inGuard = (before: RecordedDefinition, now: RecordedDefinition) =>
      editBetween(
        'before' as Fingerprint,
        'now' as Fingerprint,
        at((each) => (each === 'now' ? now : before), opPath('main/draft#0/guard:check#0/ask#0')),
      );
    expect(inGuard(guarded, bare)).toEqual(UNEDITED);
    expect(inGuard(recorded([{ ...BODY, digest: 'b' }, guard('1')]), bare)).toMatchObject({ definition: true, interceptors: false });
  });

  it('are what `ask-guards` asks for, and nothing else is', () => {
    const edited = edit(recorded([{ ...BODY, digest: 'b' }]), bare);
    expect([isRefused(edit(bare, guarded), 'ask-guards'), isRefused(edited, 'ask-guards')]).toEqual([true, false]);
    expect([isRefused(edit(bare, guarded), 'ask'), isRefused(edited, 'ask')]).toEqual([true, true]);
    expect([isRefused(edit(bare, guarded), 'serve'), isRefused(edited, 'serve')]).toEqual([false, false]);
  });
});

describe('what code lists and is given', () => {
  const listed: DefinitionPart = { ...model('opus'), inCode: true };
  const older: RecordedDefinition = { parts: [BODY], interceptors: true };
  const edit = (before: RecordedDefinition, now: RecordedDefinition) =>
    editBetween(
      'before' as Fingerprint,
      'now' as Fingerprint,
      at((fingerprint) => (fingerprint === 'now' ? now : before)),
    );

  it('counts like all other parts', () => {
    expect(sentences([BODY, { ...model('sonnet'), inCode: true }], [BODY, listed])).toEqual(['@model was sonnet, is opus']);
    expect(sentences([BODY], [BODY, listed])).toEqual(['it uses @model now']);
  });

  it('is told of only where both sides know it', () => {
    expect(edit(older, recorded([BODY, listed]))).toEqual(UNEDITED);
    expect(edit(recorded([BODY, listed]), older)).toEqual(UNEDITED);
    expect(edit({ ...older, parts: [BODY, model('sonnet')] }, recorded([BODY, listed]))).toEqual(UNEDITED);
    expect(edit({ ...older, parts: [{ ...BODY, digest: 'b' }] }, recorded([BODY, listed]))).toMatchObject({ definition: true });
    expect(edit(older, recorded([BODY]))).toMatchObject({ definition: true });
  });

  it('is known once a program that looks for it has recorded the definition', () => {
    const fact = {
      type: 'definition.recorded',
      fn: 'review',
      fingerprint: 'one' as Fingerprint,
      parts: [BODY],
      interceptors: true,
    } as const;
    const after = (...facts: Fact[]) => fold(definitions, entries(runRef(1), [started(runRef(1)), ...facts])).get('one' as Fingerprint);
    expect(after(fact)).toEqual(older);
    expect(after(fact, { ...fact, code: true }, fact)).toEqual(completeDefinition([BODY]));
  });
});

describe('the function that is a backend', () => {
  const backend = (digest: string): DefinitionPart => ({ kind: 'function', name: 'ask', digest, inBackend: true });
  const guard: DefinitionPart = { kind: 'guard', name: '@short', digest: 'g' };
  const edit = (before: readonly DefinitionPart[], now: readonly DefinitionPart[]) =>
    editBetween(
      'before' as Fingerprint,
      'now' as Fingerprint,
      at((each) => recorded(each === 'now' ? now : before)),
    );

  it('counts like other parts, apart from settings of the same name', () => {
    expect(edit([BODY, backend('a')], [BODY, backend('b')])).toMatchObject({ definition: true, interceptors: false });
    const own: DefinitionPart = { ...model('opus'), inBackend: true };
    expect(sentences([BODY, backend('a'), model('sonnet')], [BODY, backend('a'), model('opus'), own])).toEqual([
      '@model was sonnet, is opus',
      'it uses @model now',
    ]);
  });

  it('is told of only where both sides know it, as are the guards that it brings', () => {
    expect(edit([BODY], [BODY, backend('a'), { ...guard, inBackend: true }])).toEqual(UNEDITED);
    expect(edit([BODY, backend('a'), { ...guard, inBackend: true }], [BODY, guard])).toEqual(UNEDITED);
    expect(edit([BODY, backend('a'), { ...guard, inBackend: true }], [BODY, backend('a')])).toMatchObject({ interceptors: true });
    expect(edit([BODY, backend('a'), guard], [BODY, backend('a'), { ...guard, inBackend: true }]).changes).toEqual([]);
    expect(edit([BODY, model('sonnet')], [BODY, model('opus'), backend('a')])).toMatchObject({ definition: true });
  });
});

describe('definitions', () => {
  const recorded = (fingerprint: string, digest: string): Fact => ({
    type: 'definition.recorded',
    fn: 'review',
    fingerprint: fingerprint as Fingerprint,
    parts: [{ ...BODY, digest }],
  });

  it('are kept by fingerprint until everything is forgotten', () => {
    const run = [started(runRef(1)), recorded('one', 'a'), recorded('two', 'b')];
    expect([...fold(definitions, entries(runRef(1), run)).keys()]).toEqual(['one', 'two']);
    const fresh: Fact[] = [...run, { type: 'memo.reset', reason: 'fresh' }, recorded('three', 'c')];
    expect([...fold(definitions, entries(runRef(1), fresh)).keys()]).toEqual(['three']);
  });
});

function v(name: string, digest: string, preview?: string): DefinitionPart {
  return { kind: 'variable', name, digest, ...(preview !== undefined && { preview }) };
}
