/** Live output is what people see of a command while it runs. docs/decisions/0052-live-output.md */
import { describe, expect, it } from 'vitest';
import { LiveOutput } from '../../src/operation/live-output.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';

function outputOf(
  parts: readonly (string | { readonly stderr: string })[],
  secrets = new SecretRegistry(),
  isWithheld = false,
): LiveOutput {
  const output = new LiveOutput(secrets, isWithheld);
  for (const part of parts) output.write(typeof part === 'string' ? part : part.stderr, typeof part === 'string' ? 'stdout' : 'stderr');
  return output;
}

describe('the live output of a command', () => {
  it.each<[what: string, parts: readonly (string | { readonly stderr: string })[], text: string]>([
    ['whole lines, however they arrive', ['on', 'e\ntw', 'o\n', 'thr'], 'one\ntwo'],
    ['nothing of a line that is not complete', ['one'], ''],
    ['the lines of both streams, each whole', ['o', { stderr: 'warning\n' }, 'ne\n'], 'warning\none'],
    ['lines that end as on Windows, also when the end is cut in two', ['one\r\ntwo\r', '\nthree\r\n'], 'one\ntwo\nthree'],
    ['what a terminal would show of a progress bar', ['10%\r20%\r', '30%\rdone\n', 'next\n'], 'done\nnext'],
    ['no escape sequences', ['\x1b[32mok\x1b[0m \x1b]0;title\x07and \x1b[2K\x1b[1Gmore\n'], 'ok and more'],
    ['no control characters but tabs', ['a\x00b\x08c\x7fd\u009be\tf\n'], 'abcde\tf'],
    [
      'a mark in the place of a line without end',
      ['x'.repeat(40_000), 'x'.repeat(40_000), 'x\nnext\n'],
      '[a line of more than 65536 characters]\nnext',
    ],
    ['the beginning of a long line', [`${'x'.repeat(3000)}\n`], `${'x'.repeat(2000)}…`],
  ])('is %s', (_, parts, text) => {
    expect(outputOf(parts).read()).toEqual({ text, isCut: false, isWithheld: false });
  });

  it.each([
    ['in many parts', Array.from({ length: 5000 }, (_, i) => `line ${i}\n`)],
    ['in one part', [Array.from({ length: 5000 }, (_, i) => `line ${i}\n`).join('')]],
    ['behind many empty ones', ['\n'.repeat(100_000), 'line 4998\nline 4999\n']],
  ])('keeps the latest lines of those that come %s', (_, parts) => {
    const output = outputOf(parts);
    const { text, isCut } = output.read();
    expect(isCut).toBe(true);
    expect(text.length).toBeLessThan(17_000);
    expect(text.endsWith('line 4998\nline 4999')).toBe(true);
  });

  it('has marks in the place of secrets, also of one that becomes known later', () => {
    const secrets = new SecretRegistry();
    const output = outputOf(['key sk-live-0123', '456789abcdef\n', 'LINEONEOFKEY\nLINETWOOFKEY\n'], secrets);
    expect(output.read().text).toContain('sk-live-0123456789abcdef');
    secrets.add('sk-live-0123456789abcdef');
    secrets.add('LINEONEOFKEY\nLINETWOOFKEY');
    expect(output.read().text).toBe('key [secret]\n[secret]\n[secret]');
  });

  it('is withheld where a secret went into the command', () => {
    const output = outputOf(['made of it\n'], new SecretRegistry(), true);
    expect(output.read()).toEqual({ text: '', isCut: false, isWithheld: true });
  });
});
