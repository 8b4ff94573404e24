/** Limits the time of a script's regular expressions, in the program's own process and in a host's. */
import { describe, expect, it } from 'vitest';
import { search, userRegExp } from '../../src/values/methods/regex.js';
import { projectFolder, runCli } from '../support/cli.js';

const SLOW_TEXT = `${'a'.repeat(40)}b`;
const matchIn = (text: string, source: string, flags?: string): RegExpMatchArray | null => {
  const pattern = userRegExp(source, flags);
  return search(pattern, text.length, () => text.match(pattern));
};
/** V8 takes the flag only where its linear engine was turned on. */
const LINEAR: string = 'l';
const linearEngineIsOn = (): boolean => {
  try {
    return Boolean(new RegExp('a', LINEAR));
  } catch {
    return false;
  }
};

describe('in a host', () => {
  it('finds what the pattern says, in texts of any length', () => {
    expect(matchIn('tide = high', '(\\w+)\\s*=\\s*(.*)')?.slice(1)).toEqual(['tide', 'high']);
    const long = `${'x'.repeat(100_000)} tide = high`;
    expect(matchIn(long, '([^x]+)=(.*)')?.slice(1)).toEqual([' tide ', ' high']);
    expect(matchIn(long, '(ti)(d|z)e', 'i')?.slice(1)).toEqual(['ti', 'd']);
    expect(matchIn(long, 'nothing')).toBeNull();
    expect(matchIn('', 'a*')?.[0]).toBe('');
  });

  it('turns on no engine of V8', () => {
    matchIn('aaa', '(a|b)+(?=a)');
    matchIn('x'.repeat(10_000), 'x+y*x');
    expect(linearEngineIsOn()).toBe(false);
  });

  it.each([
    ['(a+)+$', ''],
    ['(a+)+$', 'i'],
    ['(?=(a+)+$)', ''],
  ])('stops /%s/%s on a text that it would take for ever for', (source, flags) => {
    expect(() => matchIn(SLOW_TEXT, source, flags)).toThrow(expect.objectContaining({ code: 'PATTERN_TOO_SLOW' }) as Error);
    expect(matchIn('after', 'f(t)')?.[1]).toBe('t');
  });
});

describe('on the command line', () => {
  it('matches in linear time what only backtracking makes slow', async () => {
    const cwd = await projectFolder({ 'job.mld': `var @t = "${SLOW_TEXT}"\nshow @t.replace(/(a+)+$/, "c").length\n` });
    expect(await runCli(['job.mld'], { cwd })).toEqual({ stdout: '41\n', stderr: '', status: 0 });
  });

  it('stops what the linear engine is no match for', async () => {
    const cwd = await projectFolder({ 'job.mld': `var @t = "${SLOW_TEXT}"\nshow @t.match(/(a+)+$/i)\n` });
    const { stderr, status } = await runCli(['job.mld'], { cwd });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Error: The regular expression .* took longer than 5 s on this text\n {2}job\.mld:2:/);
  });
});
