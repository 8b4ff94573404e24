/** Commands in messages stay on one line, and a shell reads their words as they were. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { resumeCommand } from '../../../cli/render/resume-command.js';
import { expect, it } from 'vitest';
import { oneLine } from '../../../cli/render/one-line.js';
import { shownWords } from '../../../cli/render/shown-words.js';

it('leaves words without control characters as a shell takes them', () => {
  expect(shownWords(['mlld', 'run', 'a b', "it's"])).toBe(String.raw`mlld run 'a b' 'it'\''s'`);
});

it('is read by a shell as the same words, on one line', () => {
  // A word of a command line has no NUL.
  const word = fc.string({
    unit: fc.constantFrom('a', "'", '\\', '$', '"', ' ', '\n', '\t', '\r', '\u001B', '\u0007', '\u0085', '\u202E', '\u2028', '\uFDD0', 'é'),
  });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
      const shown = shownWords(words);
      expect(oneLine(shown)).toBe(shown); // nothing is written out on its way to the terminal
      const read = execFileSync('bash', ['-c', `printf '%s\\0' ${shown}`], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      });
      expect(read.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 30 },
  );
});

it('resumes a run with the flags that stood behind --args -', () => {
  const argv = ['talk', '--args', '-', '--backend', 'claude', '--budget', '3usd'];
  expect(resumeCommand({ name: 'talk', argv })).toBe('mlld run talk --args - --backend claude --budget 3usd --resume');
});
