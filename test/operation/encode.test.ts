/** What the journal keeps of a result, and what is made of that again. */
import { describe, expect, it } from 'vitest';
import type { ResultNote } from '../../journal/event.js';
import { Signal } from '../../src/language/completion.js';
import { decodeResult, encodeResult, type Encoded } from '../../src/operation/encode.js';
import { withShortCommand } from '../../src/operation/noted.js';
import { annotate, Annotated, noteOf, type Data, type Value } from '../../src/values/value.js';

const ROOT = '/p';
const FILE = { absolute: '/p/a/gull.json', relative: './a/gull.json', frontmatter: { title: 'Gull' } };
const SH = { source: 'sh', command: 'seq 3', exitCode: 0, durationMs: 1.5, stderr: '' };

/** Through the text of a journal. */
function throughJournal(value: Value, root = ROOT): Value {
  return decodeResult(JSON.parse(JSON.stringify(encodeResult(value))) as Encoded, root);
}

function loaded(data: Data, more: object = {}): Value {
  return annotate(data, { sources: ['src:file'], file: FILE, ...more });
}

describe('a result', () => {
  it.each<readonly [string, Value]>([
    ['a text', 'ebb'],
    ['plain data', { a: [1, { b: null }] }],
    ['data with its text', annotate({ a: 1 }, { text: '{"a":  1}' })],
    ['data with a text that is no JSON', annotate([{ kg: 1 }], { text: '{kg: 1}' })],
    ['a text from a pipeline', annotate('ebb', { isResult: true })],
    ['what a command printed', annotate('1\n2\n3', { command: SH })],
    ['what a failing one wrote', annotate('', { command: { ...SH, exitCode: 3, stderr: 'no\n' } })],
  ])('comes back whole: %s', (_what, value) => {
    expect(throughJournal(value)).toEqual(value);
  });

  it('knows its file, and so do parts of it at any depth', () => {
    const whole = throughJournal(loaded({ a: 1 }, { text: '{"a": 1}', isKept: true })) as Annotated;
    expect(whole.note).toMatchObject({ file: FILE, text: '{"a": 1}', isKept: true });
    const value = { list: [loaded('one'), { ['__proto__']: [2, loaded({ n: 1 }, { text: '{n: 1}' })] }] } as unknown as Value;
    expect(throughJournal(value)).toEqual(value);
    expect(Object.keys((throughJournal(value) as { list: object[] }).list[1] as object)).toEqual(['__proto__']);
  });

  it('finds its files where the project is', () => {
    expect(noteOf(throughJournal(loaded('x'), '/elsewhere'))?.file?.absolute).toBe('/elsewhere/a/gull.json');
    const outside = loaded('x', { file: { absolute: '/q/x.md', relative: './../q/x.md' } });
    expect(noteOf(throughJournal(outside))?.file?.absolute).toBe('/q/x.md');
  });

  it('is what a word of control carries', () => {
    const word = throughJournal(new Signal('done', loaded('x'), true) as unknown as Value) as unknown as Signal;
    expect([word.word, word.given, noteOf(word.value)?.file]).toEqual(['done', true, FILE]);
  });

  it('says nothing of what has nothing to say, and little of a list of plain data', () => {
    expect(encodeResult({ a: [1, 'b'] })).toEqual({ json: { a: [1, 'b'] }, notes: [] });
    expect(encodeResult([loaded('x')]).notes).toEqual([{ at: [0], file: { path: './a/gull.json', frontmatter: { title: 'Gull' } } }]);
    expect(encodeResult(annotate('x', { command: SH })).notes).toEqual([{ command: { source: 'sh', line: 'seq 3', durationMs: 1.5 } }]);
  });

  it('stands when a note is about a part that is not there', () => {
    const notes: ResultNote[] = [
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
    expect(noteOf(cut)?.command?.command).toBe(`${'y'.repeat(999)}…`);
    expect(throughJournal(cut)).toEqual(cut);
    const carried = withShortCommand(new Signal('done', long, true) as unknown as Value) as unknown as Signal;
    expect(noteOf(carried.value)).toEqual(noteOf(cut));
    const short = annotate('x', { command: SH });
    expect(withShortCommand(short)).toBe(short);
  });
});
