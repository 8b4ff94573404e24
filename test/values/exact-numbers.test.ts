/** Numbers that a double can't hold keep their digits in text that is made of data. values.md 15.3. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { losesDigits, withExactNumbers } from '../../src/values/formats/exact-numbers.js';
import fs from 'node:fs';
import path from 'node:path';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';
import { runScript } from '../support/in-fake-world.js';

describe('exact numbers', () => {
  it.each([
    ['{"id": 12345678901234567890, "p": 1.10}', '{"id":12345678901234567890,"p":1.1}'],
    ['[-9007199254740993, 9007199254740992, 0.12345678901234567]', '[-9007199254740993,9007199254740992,0.12345678901234567]'],
    ['["12345678901234567890", 98765432109876543210]', '["12345678901234567890",98765432109876543210]'],
    ['[1.0000000000000000000, 100000000000000000000000]', '[1,1e+23]'],
    // Names that are numbers come first in the data, and the last of two equal names counts: nothing can be put back in place.
    ['{"b": 12345678901234567890, "7": 1}', '{"7":1,"b":12345678901234567000}'],
    ['{"b": 12345678901234567890, "b": 1}', '{"b":1}'],
  ])('are as in %s', (source, expected) => {
    expect(withExactNumbers(JSON.stringify(JSON.parse(source)), source)).toBe(expected);
  });

  it('change no data that a double can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const source = JSON.stringify(data, null, 3);
        expect(losesDigits(source)).toBe(false);
        expect(withExactNumbers(JSON.stringify(data), source)).toBe(JSON.stringify(data));
      }),
    );
  });

  it('mean the same data', () => {
    const anyNumber = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
    fc.assert(
      fc.property(fc.array(anyNumber), (numbers) => {
        const source = `[${numbers.join(', ')}]`;
        const written = withExactNumbers(JSON.stringify(JSON.parse(source)), source);
        expect(JSON.parse(written)).toEqual(JSON.parse(source));
        for (const number of numbers) expect(written).toContain(losesDigits(number) ? number : JSON.stringify(Number(number)));
      }),
    );
  });

  it('reach templates, output, transformers and records of a file', async () => {
    const text = '{"id": 12345678901234567890, "p": 1.10}';
    const script = `var @t = '${text}'
show @t
show <f.json>
show \`@t|@pretty\`
append @t to "records.jsonl"
output @t to "t.json" as json
`;
    const { shown, world, error } = await runScript(script, { files: { '/p/f.json': text } });
    expect(error).toBeUndefined();
    const laidOut = '{\n  "id": 12345678901234567890,\n  "p": 1.1\n}\n';
    expect(shown).toBe(laidOut.repeat(3));
    expect(world.files.get('/p/t.json')).toBe(laidOut);
    expect(world.files.get('/p/records.jsonl')).toBe('{"id":12345678901234567890,"p":1.1}\n');
  });

  it('reach commands, and are a part of the call key', async () => {
    const cwd = await projectFolder({
      'mlld-config.json': '{}',
      'f.json': '{"id": 12345678901234567890}',
      'job.mld': `exe @made() = sh { cat f.json }
exe llm @ask(x) = sh { printf '%s' "$x" }
exe llm @other(x) = sh { printf '%s' "$x" }
exe @told(x) = cmd { printf '%s' @x }
var @x = @made()
show \`@x @told(@x)\`
show @ask(@x)
show @other(<f.json>)
`,
    });
    const outputOf = (id: string) => `{"id":${id}} {"id":${id}}\n{"id":${id}}\n{"id": ${id}}\n`;
    expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ stdout: outputOf('12345678901234567890') });
    fs.writeFileSync(path.join(cwd, 'f.json'), '{"id": 12345678901234567891}');
    expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({
      stdout: outputOf('12345678901234567891'),
      stderr: expect.stringContaining('2 executed') as string,
    });
    expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stderr).toContain('2 reused');
  });
});
