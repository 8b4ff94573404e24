import { describe, expect, it } from 'vitest';
import { renderError } from '../../../cli/render/error.js';
import { SyntaxFailure } from '../../../grammar/errors.js';
import { MlldError } from '../../../src/errors.js';

const text = 'var @ok = 1\nvar @a = [1, 2\nshow @a\n';
const location = { file: 'main.mld', at: text.indexOf('var @a'), text };

describe('a mistake in a script', () => {
  it('is shown with file, line and column, the line with a caret, and a hint', () => {
    const error = new MlldError('UNKNOWN_VARIABLE', 'Variable @b is not defined', { location, hint: 'did you mean @a?' });
    expect(renderError(error, {})).toBe(
      [
        'Error: Variable @b is not defined',
        '  main.mld:2:1',
        '  1 | var @ok = 1',
        '  2 | var @a = [1, 2',
        '    | ^',
        '  hint: did you mean @a?',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['by its code', new MlldError('SYNTAX', 'Unclosed array', { location })],
    ['by its cause', new MlldError('NUMBER', 'Unclosed array', { location, cause: new SyntaxFailure('Unclosed array', { at: 12 }) })],
  ])('is told to be a parse error %s', (_, error) => {
    expect(renderError(error, {})).toMatch(/^Parse error: Unclosed array\n {2}main\.mld:2:1\n/);
  });

  it('does not show the secrets of a script that can not be read', () => {
    const source = 'show "seen"\nvar secret,pii @k = "token-1" + f(\'token-2\') +\nvar @a = "token-3\n';
    const shown = (at: number) => renderError(new MlldError('SYNTAX', 'no', { location: { file: 'main.mld', at, text: source } }), {});
    expect(shown(source.indexOf('+\nvar'))).toContain(
      '  1 | show "seen"\n  2 | var secret,pii @k = "*******" + f(\'*******\') +\n    |                                              ^\n',
    );
    expect(shown(source.indexOf('"token-3'))).toContain('3 | var @a = "token-3\n');
    const unclosed = 'var secret @k = "token-1\n';
    expect(renderError(new MlldError('SYNTAX', 'no', { location: { file: 'main.mld', at: 16, text: unclosed } }), {})).not.toContain(
      'token',
    );
  });

  it('names the operations and imports around the place, innermost first', () => {
    const error = new MlldError('BAIL', 'no fares', { location });
    error.trail.push({ what: '@fare', location: { file: 'lib/fare.mld', at: 0, text: 'x' } });
    error.trail.push({ what: 'import "lib/fare.mld"', location: { file: 'main.mld', at: 12, text } });
    expect(renderError(error, {})).toContain('  in @fare (lib/fare.mld:1:1)\n  in import "lib/fare.mld" (main.mld:2:1)\n');
  });

  it('tells a run of equal places once, and counts the middle of a long trail', () => {
    const error = new MlldError('RECURSION_DEPTH', 'too deep', { location });
    const pass = (what: string): void => void error.trail.push({ what, location });
    for (let i = 0; i < 60; i++) pass('@same');
    pass('show');
    expect(renderError(error, {})).toMatch(/ {2}in @same \(main\.mld:2:1\), 60 times\n {2}in show \(main\.mld:2:1\)\n$/);
    for (let i = 0; i < 60; i++) pass(i % 2 === 0 ? '@ping' : '@pong');
    const trail = renderError(error, {})
      .split('\n')
      .filter((line) => /^ {2}(in |…)/.test(line));
    expect(trail).toHaveLength(25);
    expect(trail[12]).toBe('  … 38 more');
  });

  it('has no stack, whatever its cause', () => {
    const error = new MlldError('CODE', 'js failed', { cause: new TypeError('x is not a function') });
    expect(renderError(error, { debug: true })).toBe('Error: js failed\n');
  });

  it('may have no place', () => {
    expect(renderError(new MlldError('USAGE', 'No script was given', { hint: 'mlld FILE' }), {})).toBe(
      'Error: No script was given\n  hint: mlld FILE\n',
    );
  });
});

describe('a fault of ours', () => {
  it('is one line, and says that it is none of the script', () => {
    const shown = renderError(new Error('the invariant'), {});
    expect(shown).toMatch(/^Internal error: the invariant\n/);
    expect(shown).toContain('--debug');
    expect(shown).not.toContain('at ');
  });

  it('shows its stack with --debug', () => {
    expect(renderError(new Error('the invariant'), { debug: true })).toMatch(/Error: the invariant\n\s+at /);
  });

  it('is what an error of the system is', () => {
    expect(renderError(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }), {})).toMatch(/^Internal error/);
  });
});
