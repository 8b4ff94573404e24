/** The values in a text that is shown, logged or written. instrumentation.md 4.2. */
import { describe, expect, it } from 'vitest';
import { pieceAt, textOfPieces, withPiece } from '../../src/guards/pieces.js';
import { annotate, dataOf, labelsOf } from '../../src/values/value.js';
import { runScript } from '../support/in-fake-world.js';

const PIN = 'var secret @pin = "4411"\nvar pii @who = "Una"\n';
const HIDE = `guard @hide before secret = when [ @mx.op.type == "var" => allow; * => allow "****" ]\n`;

async function shown(text: string): Promise<string> {
  const { shown: output, error } = await runScript(text);
  expect(error).toBeUndefined();
  return output;
}

describe('the pieces of a text', () => {
  const pieces = ['pin: ', { value: annotate('4411', { labels: ['secret'] }) }, '.'];

  it('are put together with their labels', () => {
    const text = textOfPieces(pieces);
    expect([dataOf(text), labelsOf(text)]).toEqual(['pin: 4411.', ['secret']]);
  });

  it('are replaced where they stand', () => {
    const text = textOfPieces(withPiece(pieces, 1, '****'));
    expect([dataOf(text), labelsOf(text)]).toEqual(['pin: ****.', []]);
    expect([dataOf(pieceAt(pieces, 1)), pieceAt(pieces, 0), pieceAt(undefined, 0)]).toEqual(['4411', 'pin: ', undefined]);
  });
});

describe('a guard of a label', () => {
  it.each([
    ['show', 'show `pin @pin of @who.`'],
    ['a stage', 'var @x = "x" | show `pin @pin of @who.`'],
    ['an arm', 'when "x" [ "x" => `pin @pin of @who.` ]'],
    ['a loop', 'for @x in [1] => `pin @pin of @who.`'],
  ])('replaces the value inside a template: %s', async (_what, statement) => {
    expect(await shown(`${PIN}${HIDE}${statement}`)).toBe('pin **** of Una.\n');
  });

  it('does so for log, output and append', async () => {
    const script = `${PIN}${HIDE}log \`l @pin\`\noutput \`o @pin\` to "o.txt"\nappend \`a @pin\` to "a.txt"`;
    const { world, stderr } = await runScript(script);
    expect([stderr, world.files.get('/p/o.txt')?.trim(), world.files.get('/p/a.txt')]).toEqual(['l ****\n', 'o ****', 'a ****\n']);
  });

  it('looks at each value by itself, before and after', async () => {
    const look = `guard @look always secret = when [ @mx.op.type == "show" => deny "@input"; * => allow ]
guard @see always secret = when [ @mx.op.type == "show" && @input == "4411" && @output == "4411" => allow ]`;
    const { error } = await runScript(`${PIN}${look}\nshow \`pin @pin of @who\``);
    expect(error).toMatchObject({ code: 'DENIED' });
    expect(await shown(`${PIN}${look.split('\n')[1]}\nshow \`pin @pin of @who\``)).toBe('pin 4411 of Una\n');
  });

  it('looks at the whole text where the label is that of the list of a loop in it', async () => {
    const script = `var secret @pins = []\n${HIDE}show \`pins:
/for @p in @pins
- @p
/end
\``;
    expect(await shown(script)).toBe('****\n');
  });

  it('looks at the text of a variable as a whole', async () => {
    expect(await shown(`${PIN}var @text = \`pin @pin\`\n${HIDE}show @text`)).toBe('****\n');
  });
});
