/** Printed text stays as it was until a script looks inside. values.md 15.3, control.md 5.8. */
import { describe, expect, it } from 'vitest';
import { recordLine, writtenText } from '../../src/language/files/written-text.js';
import { readField } from '../../src/values/access.js';
import { parseResult } from '../../src/values/results.js';
import { showText } from '../../src/values/show.js';
import { annotate, dataOf, metadataOf, type Value } from '../../src/values/value.js';

const JQ = '{\n    "a": 1,\n    "b": 1.10, "n": 12345678901234567890, "s": "x  \\" y"\n}';

function printed(text: string): Value {
  const result = parseResult(text, 'code');
  return annotate(dataOf(result), {
    ...metadataOf(result),
    command: { source: 'sh', command: 'jq .', exitCode: 0, durationMs: 1, stderr: '' },
    isPrinted: true,
  });
}

describe('a printed text', () => {
  it.each(['1.10', '9.0', '12345678901234567890', '-0', '"quoted"', 'null', '[1,   2]', JQ])(
    'is shown and written as it is: %s',
    (text) => {
      expect(showText(printed(text))).toBe(text);
      expect(writtenText(printed(text))).toBe(text);
    },
  );

  it('is one line of a .jsonl file, with the spelling of its numbers', () => {
    expect(recordLine(printed(JQ))).toBe('{"a":1,"b":1.10,"n":12345678901234567890,"s":"x  \\" y"}');
    expect(recordLine(printed('1.10'))).toBe('1.10');
  });

  it('is data for a script that looks inside', () => {
    expect(readField(printed(JQ), 'b', { written: '@j' })).toBe(1.1);
    expect(dataOf(printed('1.10'))).toBe(1.1);
  });

  it('is a text where a number would lose digits', () => {
    expect(dataOf(printed('12345678901234567890'))).toBe('12345678901234567890');
    expect(dataOf(printed('9007199254740991'))).toBe(9007199254740991);
    expect(dataOf(printed('9007199254740993'))).toBe('9007199254740993');
  });
});
