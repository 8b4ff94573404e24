import { describe, expect, it } from 'vitest';
import { parseModuleName, satisfies } from '../../../src/modules/published/module-name.js';

describe('the name of a published module', () => {
  it.each([
    ['@mlld/claude-poll', { name: '@mlld/claude-poll' }],
    ['@a_b/c.d@1.2.0', { name: '@a_b/c.d', wanted: '1.2.0' }],
    ['@a/b@^1', { name: '@a/b', wanted: '^1' }],
  ])('%s', (text, name) => expect(parseModuleName(text)).toEqual(name));

  it.each([
    '@a',
    'a/b',
    '@a/../../x',
    '@a/..',
    '@a/b/c',
    '@a/.b',
    '@../a',
    '@a/b..c',
    '@a/',
    '@/b',
    '@root/x',
    '@input/x',
    '@a/b@',
    '@a\n/b',
    '',
  ])('is not %j', (text) => expect(parseModuleName(text)).toBeUndefined());
});

describe('a wanted version', () => {
  it.each<[string | undefined, string | undefined, boolean]>([
    ['1.2.3', undefined, true],
    [undefined, '*', true],
    [undefined, '1', false],
    ['1.2.3', '1.2.3', true],
    ['1.2.3', '1.2', true],
    ['1.20.3', '1.2', false],
    ['1.2.3', '1', true],
    ['2.0.0', '^1.2.0', false],
    ['1.10.0', '^1.2.0', true],
    ['1.1.9', '^1.2.0', false],
    ['0.3.0', '^0.2.1', false],
    ['0.2.4', '^0.2.1', true],
    ['0.0.4', '^0.0.3', false],
    ['1.2.9', '~1.2.3', true],
    ['1.3.0', '~1.2.3', false],
    ['1.9.0', '~1', true],
    ['2.0.0-rc.1', '2.0.0-rc.1', true],
    ['2.0.0-rc.1', '^2.0.0', false],
  ])('%s as %s: %s', (version, wanted, fits) => expect(satisfies(version, wanted)).toBe(fits));
});
