import { describe, expect, it } from 'vitest';
import { checkpointTarget, parseSelector } from '../../../replay/resume/selector.js';

describe('--resume target', () => {
  it.each<[string | undefined, unknown]>([
    [undefined, { kind: 'none' }],
    ['', { kind: 'none' }],
    ['@ask', { kind: 'function', text: '@ask', name: 'ask' }],
    ['@ask:12', { kind: 'function', text: '@ask:12', name: 'ask', site: 12 }],
    ['@ask-twice_2', { kind: 'function', text: '@ask-twice_2', name: 'ask-twice_2' }],
    ['@ask("docs/")', { kind: 'function', text: '@ask("docs/")', name: 'ask', prefix: 'docs/' }],
    ["@ask('b')", { kind: 'function', text: "@ask('b')", name: 'ask', prefix: 'b' }],
    ['@ask:1(`a "b" (c)`)', { kind: 'function', text: '@ask:1(`a "b" (c)`)', name: 'ask', site: 1, prefix: 'a "b" (c)' }],
    ['@ask("")', { kind: 'function', text: '@ask("")', name: 'ask', prefix: '' }],
    ['@ask("two\nlines")', { kind: 'function', text: '@ask("two\nlines")', name: 'ask', prefix: 'two\nlines' }],
    ['@ask(= "whole text")', { kind: 'function', text: '@ask(= "whole text")', name: 'ask', exact: 'whole text' }],
    ["@ask:2(='b')", { kind: 'function', text: "@ask:2(='b')", name: 'ask', site: 2, exact: 'b' }],
    ['@ask("= b")', { kind: 'function', text: '@ask("= b")', name: 'ask', prefix: '= b' }],
    ['failed', { kind: 'failed', text: 'failed' }],
    ['"failed"', { kind: 'checkpoint', text: '"failed"', name: 'failed' }],
    ['main/for#0[137]/review#0', { kind: 'path', text: 'main/for#0[137]/review#0' }],
    ['main/notes', { kind: 'checkpoint', text: 'main/notes', name: 'main/notes' }],
    ['reviewed', { kind: 'checkpoint', text: 'reviewed', name: 'reviewed' }],
    ['ask:0', { kind: 'checkpoint', text: 'ask:0', name: 'ask:0' }],
    ['f("x")', { kind: 'checkpoint', text: 'f("x")', name: 'f("x")' }],
    ['"@home"', { kind: 'checkpoint', text: '"@home"', name: '@home' }],
    ["' open water '", { kind: 'checkpoint', text: "' open water '", name: 'open water' }],
  ])('reads %j', (target, selector) => {
    expect(parseSelector(target)).toEqual(selector);
  });

  it.each([
    '@',
    '@ask(ebb)',
    '@ask:x',
    '@ask(',
    '@ask:',
    '@ask("b\')',
    '@ask("b") ',
    '@ask()',
    '@ask(= b)',
    '@1',
    '@ask.x',
    '""',
    `@ask("${'x'.repeat(257)}")`,
  ])('reads %j as malformed and says why', (target) => {
    expect(parseSelector(target)).toEqual({ kind: 'malformed', text: target, why: expect.stringMatching(/./) });
  });

  it.each(['failed', '@ask', '@', 'main/for#0', '-v', '"x"', 'half way', `it's`, 'f("x")'])('names the checkpoint %j', (name) => {
    const target = checkpointTarget(name);
    expect(target.startsWith('-')).toBe(false);
    expect(parseSelector(target)).toMatchObject({ kind: 'checkpoint', name });
  });
});
