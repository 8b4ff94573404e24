/** Schemas of results. calls.md 8. */
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../src/calls/schema/compile-schema.js';
import { repairNote } from '../../src/calls/schema/repair-note.js';
import { structuredResult } from '../../src/calls/schema/structured-result.js';

const MARK = { type: 'object', required: ['mark'], properties: { mark: { type: 'integer', maximum: 6 } } };

describe('a text as a schema', () => {
  it.each([
    ['an unknown type', { type: 'objekt' }, /type/],
    ['a list', [], /a schema is an object/],
    ['a truth value', true, /a schema is an object/],
    ['a reference to another document', { $ref: 'https://example.com/mark.json' }, /example\.com/],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, /draft-07/],
    ['a pattern that is none', { pattern: '(' }, /\(/],
    ['the promise of a validator', { $async: true }, /\$async/],
  ])('is refused: %s', async (_what, schema, reason) => {
    await expect(compileSchema(schema)).rejects.toThrow(reason);
  });

  it('may refer to its own definitions, and has keywords that JSON Schema does not know', async () => {
    const schema = await compileSchema({ $ref: '#/$defs/mark', $defs: { mark: { type: 'integer', example: 3 } } });
    expect(schema.problemsIn(4)).toEqual([]);
    expect(schema.problemsIn('4')).toEqual(['the result must be integer']);
  });

  it('has the digest of its content', async () => {
    const [one, same, other] = await Promise.all([
      compileSchema({ type: 'integer', maximum: 6 }),
      compileSchema({ maximum: 6, type: 'integer' }),
      compileSchema({ type: 'integer', maximum: 5 }),
    ]);
    expect(one.digest).toBe(same.digest);
    expect(one.digest).not.toBe(other.digest);
  });
});

describe('the problems of a result', () => {
  it('have the place and the rule, with what the rule allows', async () => {
    const schema = await compileSchema({ ...MARK, additionalProperties: false });
    expect(schema.problemsIn({ mark: 9 })).toEqual(['/mark must be <= 6']);
    expect(schema.problemsIn({ mark: 1, why: 'x' })).toEqual(['the result must NOT have additional properties: "why"']);
    expect((await compileSchema({ enum: ['a', 'b'] })).problemsIn('c')).toEqual([
      'the result must be equal to one of the allowed values: ["a","b"]',
    ]);
  });

  it('are in time, whatever a pattern makes of the text', { timeout: 60_000 }, async () => {
    const schema = await compileSchema({ type: 'string', pattern: '^(a+)+$' });
    expect(schema.problemsIn('aaaa')).toEqual([]);
    expect(schema.problemsIn(`${'a'.repeat(60)}!`)).toEqual([expect.stringMatching(/took longer than 5 s|must match pattern/)]);
  });

  it('are five at most', async () => {
    const schema = await compileSchema({ items: { type: 'number' } });
    expect(schema.problemsIn(['a', 'b', 'c', 'd', 'e', 'f'])).toHaveLength(5);
  });

  it('are found in formats', async () => {
    const schema = await compileSchema({ format: 'date' });
    expect(schema.problemsIn('2026-02-30')).toEqual(['the result must match format "date"']);
    expect(schema.problemsIn('2026-02-28')).toEqual([]);
  });
});

describe('a structured result', () => {
  it.each([
    ['as it is', '{"mark": 4}'],
    ['with blanks around', '\n {"mark": 4}\n'],
    ['in a fenced block', '```json\n{"mark": 4}\n```'],
    ['in a longer fence', '\n````\n{"mark": 4}\n````\n'],
  ])('is read from a text %s', async (_how, text) => {
    expect(structuredResult({ text }, await compileSchema(MARK))).toEqual({ kind: 'fits', value: { mark: 4 } });
  });

  it.each(['Sure! {"mark": 4}', '{"mark": 4,}', '```json\n{"mark": 4}\n```\nDone.', "{'mark': 4}", ''])(
    'is not repaired: %j',
    async (text) => {
      expect(structuredResult({ text }, await compileSchema(MARK))).toEqual({ kind: 'misfits', problems: ['the result must be JSON'] });
    },
  );

  it('that is no text is checked as it is', async () => {
    const schema = await compileSchema({ type: 'string' });
    expect(structuredResult({ data: '4' }, schema)).toEqual({ kind: 'fits', value: '4' });
    expect(structuredResult({ text: '4' }, schema)).toEqual({ kind: 'misfits', problems: ['the result must be string'] });
  });

  it.each([
    ['1e400', 'the result must be a number of at most 1.8e308'],
    ['{"a": [1, -1e999]}', '/a/1 must be a number of at most 1.8e308'],
  ])('has no number that a journal would hold as something else: %s', async (text, problem) => {
    expect(structuredResult({ text }, await compileSchema({}))).toEqual({ kind: 'misfits', problems: [problem] });
  });
});

describe('the note for the next attempt', () => {
  it('stands behind a blank line and has all problems', () => {
    expect(repairNote(['/a must be string', '/b must be number'])).toMatch(/^\n\n.*\/a must be string; \/b must be number/);
  });
});
