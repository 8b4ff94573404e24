/** The result of a call, taken out of its reply and fitted to its schema. calls.md 7.2 and 8.2. */
import { describe, expect, it } from 'vitest';
import { compileSchema } from '../../src/calls/schema/compile-schema.js';
import { fitToSchema, replyText, resultIn } from '../../src/operation/replies/result-of-reply.js';
import { annotate } from '../../src/values/value.js';

describe('the text of a reply', () => {
  it('is the text that data was read from, else the data as JSON', () => {
    expect(replyText(annotate({ a: 1 }, { text: '{ "a": 1 }' }))).toBe('{ "a": 1 }');
    expect(replyText({ a: 1 })).toBe('{"a":1}');
    expect(replyText('plain')).toBe('plain');
  });
});

describe('the result in a reply', () => {
  it('takes the labels of the value that it replaces, and not its text', () => {
    const printed = annotate({ result: 'high' }, { labels: ['pii'], text: '{"result":"high"}' });
    expect(resultIn({ adapter: 'claude', text: 'high' }, printed)).toEqual(annotate('high', { labels: ['pii'] }));
  });

  it('is fitted to the schema: structured data as it is, a text as JSON', async () => {
    const schema = await compileSchema({ type: 'string' });
    expect(fitToSchema('4', schema, { data: '4' })).toEqual({ kind: 'fits', value: '4' });
    expect(fitToSchema('4', schema)).toEqual({ kind: 'misfits', problems: ['the result must be string'] });
    expect(fitToSchema('"4"', schema)).toEqual({ kind: 'fits', value: '4' });
    expect(fitToSchema('4', schema, { written: '"4"' })).toEqual({ kind: 'fits', value: '4' });
  });
});
