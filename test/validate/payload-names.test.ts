/** Finds the flags that a script reads, by the uses of `@payload` in its text. */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { payloadNames } from '../../src/validate/payload-names.js';

const namesIn = (text: string): string[] => [...payloadNames(parseScript(text, { mode: 'strict' }))].sort();

describe('names read from @payload', () => {
  it.each([
    ['show @payload.topic', ['topic']],
    ['show @payload.dry-run', ['dry-run']],
    ['show @payload["no-stream"]', ['no-stream']],
    ['show @payload[topic]', ['topic']],
    ['show `about @payload.topic`', ['topic']],
    ['var @x = @payload.data | @parse', ['data']],
    ['if @payload.force && !@payload.quick [ show "x" ]', ['force', 'quick']],
    ['exe @f() = [ let @n = @payload.count\n=> @n ]', ['count']],
    ['exe @f() = cmd { echo @payload.word }', ['word']],
    ['import { topic, count as @n } from @payload', ['count', 'topic']],
    ['import "@payload" as @p\nshow @p.topic', ['topic']],
    ['exe @f() = @o.topic\nvar @o = @payload\nshow @f()', ['topic']],
    ['show @payload', []],
    ['var @k = "topic"\nshow @payload[@k]', []],
    ['var @other = { topic: 1 }\nshow @other.topic', []],
  ])('%s', (text, names) => {
    expect(namesIn(text)).toEqual(names);
  });
});
