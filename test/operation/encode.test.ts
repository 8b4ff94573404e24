/** Encoding a result for the journal, and decoding it again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultMetadata } from '../../journal/event.js';
import { Signal, valueIn, type Outcome } from '../../src/runtime/completion.js';
import { decodeResult, encodeResult } from '../../src/operation/encode-result.js';
import type { Encoded } from '../../src/runtime/calls/result-cache.js';
import { withShortCommand } from '../../src/operation/result-metadata.js';
import { annotate, Annotated, metadataOf, type Data, type Value } from '../../src/values/value.js';

const ROOT = '/p';
const FILE = { absolute: '/p/a/gull.json', relative: './a/gull.json', frontmatter: { title: 'Gull' } };
const SH = { source: 'sh', command: 'seq 3', exitCode: 0, durationMs: 1.5, stderr: '' };

/** Through the text of a journal. */
function throughJournal(result: Outcome, root = ROOT): Outcome {
  return decodeResult(JSON.parse(JSON.stringify(encodeResult(result))) as Encoded, root);
}

function loaded(data: Data, more: object = {}): Value {
  return annotate(data, { sources: ['src:file'], file: FILE, ...more });
}

/** Without -0, which no JSON has. */
const anyJson = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Data);
const anyFile = fc.record(
  { name: fc.stringMatching(/^[a-z]{1,4}\.md$/), frontmatter: fc.dictionary(fc.string(), anyJson, { maxKeys: 2 }) },
  { requiredKeys: ['name'] },
);
const anyCommand = fc.record({
  source: fc.constantFrom('sh', 'cmd', 'py'),
  command: fc.string(),
  exitCode: fc.integer({ min: 0, max: 255 }),
  durationMs: fc.nat(),
  stderr: fc.string(),
});
/** The text that data was read from: JSON with spacing of its own, or none at all. */
const anyText = (data: unknown): fc.Arbitrary<string> => fc.oneof(fc.constant(` ${JSON.stringify(data, undefined, 2)}\n`), fc.string());
const ownText = (data: unknown): object => (typeof data === 'string' ? {} : { text: anyText(data) });

/** A loaded file: what a collection keeps annotated. */
const anyLoaded: fc.Arbitrary<Value> = fc
  .tuple(anyFile, anyJson, fc.boolean())
  .chain(([{ name, ...more }, data, isKept]) =>
    fc
      .record(ownText(data), { requiredKeys: [] })
      .map((text) =>
        loaded(data as Data, { ...text, ...(isKept && { isKept }), file: { absolute: `/p/a/${name}`, relative: `./a/${name}`, ...more } }),
      ),
  );
const anyKey = fc.oneof(fc.constantFrom('a', '0', 'length', '__proto__', 'constructor', 'toString'), fc.string());

/** Plain data with loaded files here and there. */
const { collection } = fc.letrec<{ collection: Value; part: Value }>((tie) => ({
  part: fc.oneof({ depthSize: 'small', withCrossShrink: true }, anyJson, anyLoaded, tie('collection')),
  collection: fc.oneof(
    fc.array(tie('part'), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(anyKey, tie('part')), { maxLength: 4, selector: ([key]) => key }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const anyResult: fc.Arbitrary<Value> = fc.oneof(
  collection,
  anyLoaded.map((value) => annotate((value as Annotated).data, { ...(value as Annotated).metadata, sources: [] })),
  fc
    .tuple(
      fc.oneof(fc.string(), collection),
      fc.record({ command: anyCommand, isResult: fc.constant(true as const) }, { requiredKeys: [] }),
    )
    .map(([data, note]) => annotate(data as Data, note)),
);

describe('a result', () => {
  it('comes back whole, whatever it is, and says the same when it is recorded again', () => {
    fc.assert(
      fc.property(anyResult, fc.constantFrom(undefined, 'done' as const, 'continue' as const), (value, word) => {
        const given = word === undefined ? value : new Signal(word, value, true);
        const back = throughJournal(given);
        expect(back).toEqual(given);
        expect(encodeResult(back)).toEqual(encodeResult(given));
      }),
      { numRuns: 500 },
    );
  });

  it.each<readonly [string, Value]>([
    ['a text', 'ebb'],
    ['plain data', { a: [1, { b: null }] }],
    ['data with its text', annotate({ a: 1 }, { text: '{"a":  1}' })],
    ['data whose text is other JSON', annotate([{ kg: 1 }], { text: '{"kg":  1}\n' })],
    ['data with a text that is no JSON', annotate([{ kg: 1 }], { text: '{kg: 1}' })],
    ['a text from a pipeline', annotate('ebb', { isResult: true })],
    ['what a command printed', annotate('1\n2\n3', { command: SH })],
    ['what a failing one wrote', annotate('', { command: { ...SH, exitCode: 3, stderr: 'no\n' } })],
  ])('comes back whole: %s', (_what, value) => {
    expect(throughJournal(value)).toEqual(value);
  });

  it('knows its file, and so do parts of it at any depth', () => {
    const whole = throughJournal(loaded({ a: 1 }, { text: '{"a": 1}', isKept: true })) as Annotated;
    expect(whole.metadata).toMatchObject({ file: FILE, text: '{"a": 1}', isKept: true });
    const value = { list: [loaded('one'), { ['__proto__']: [2, loaded({ n: 1 }, { text: '{n: 1}' })] }] } as unknown as Value;
    expect(throughJournal(value)).toEqual(value);
    expect(Object.keys((throughJournal(value) as { list: object[] }).list[1] as object)).toEqual(['__proto__']);
  });

  it('finds its files where the project is', () => {
    expect(metadataOf(valueIn(throughJournal(loaded('x'), '/elsewhere')))?.file?.absolute).toBe('/elsewhere/a/gull.json');
    const outside = loaded('x', { file: { absolute: '/q/x.md', relative: './../q/x.md' } });
    expect(metadataOf(valueIn(throughJournal(outside)))?.file?.absolute).toBe('/q/x.md');
  });

  it('is what a word of control carries', () => {
    const word = throughJournal(new Signal('done', loaded('x'), true)) as Signal;
    expect([word.word, word.hasValue, metadataOf(word.value)?.file]).toEqual(['done', true, FILE]);
  });

  it('says nothing of what has nothing to say, and little of a list of plain data', () => {
    expect(encodeResult({ a: [1, 'b'] })).toEqual({ json: { a: [1, 'b'] }, notes: [] });
    expect(encodeResult([loaded('x')]).notes).toEqual([{ at: [0], file: { path: './a/gull.json', frontmatter: { title: 'Gull' } } }]);
    expect(encodeResult(annotate('x', { command: SH })).notes).toEqual([{ command: { source: 'sh', line: 'seq 3', durationMs: 1.5 } }]);
  });

  it('is unchanged where metadata is about a part that does not exist', () => {
    const notes: ResultMetadata[] = [
      { at: ['b', 0], isResult: true },
      { at: ['a', 7], isResult: true },
      { at: ['a', 'length'], isResult: true },
    ];
    expect(decodeResult({ json: { a: [1] }, notes }, ROOT)).toEqual({ a: [1] });
  });

  it('shares nothing with the journal that it was read from', () => {
    const json = { a: ['x'] };
    decodeResult({ json, notes: [{ at: ['a', 0], file: { path: './x' } }] }, ROOT);
    expect(json).toEqual({ a: ['x'] });
  });

  it('has a long command line cut before anybody sees it', () => {
    const long = annotate('x', { command: { ...SH, command: 'y'.repeat(5000) } });
    const cut = withShortCommand(long);
    expect(metadataOf(valueIn(cut))?.command?.command).toBe(`${'y'.repeat(999)}…`);
    expect(throughJournal(cut)).toEqual(cut);
    const paired = withShortCommand(annotate('x', { command: { ...SH, command: `${'y'.repeat(998)}🐚${'z'.repeat(9)}` } }));
    expect(metadataOf(valueIn(paired))?.command?.command).toBe(`${'y'.repeat(998)}…`);
    const carried = withShortCommand(new Signal('done', long, true));
    expect(metadataOf(valueIn(carried))).toEqual(metadataOf(valueIn(cut)));
    const short = annotate('x', { command: SH });
    expect(withShortCommand(short)).toBe(short);
  });
});
