import { describe, expect, it } from 'vitest';
import { parseRunRequest, resumeArguments } from '../../../cli/options/run-request.js';

const file = (...argv: string[]) => parseRunRequest(argv, 'file');
const run = (...argv: string[]) => parseRunRequest(argv, 'run');

describe('flags of the script', () => {
  it.each([
    [['--topic', 'low tide'], { topic: 'low tide' }],
    [['--count', '5', '--data', '{"a":1}'], { count: '5', data: '{"a":1}' }],
    [['--force'], { force: true }],
    [['--force', '--topic', 'x'], { force: true, topic: 'x' }],
    [['-x', '1'], { x: '1' }],
    [['-x', '-y'], { x: true, y: true }],
    [['--a', '1', '--a', '2'], { a: '2' }],
    [['--a=1', '--b=', '--c=x=y'], { a: '1', b: '', c: 'x=y' }],
    [['--text=two\nlines'], { text: 'two\nlines' }],
    [['--depth', '-5'], { depth: true, '5': true }],
    [[], {}],
  ])('reads %j', (flags, payload) => {
    expect(file('main.mld', ...flags).payload).toEqual(payload);
    expect(run('main', ...flags).payload).toEqual(payload);
  });

  it('spells flags with hyphens in camel case as well, unless that is given', () => {
    expect(file('main.mld', '--max-items', '3', '--a-b-2c', '--dry_run', '--ends-', '--maxSize', '1', '--max-size=2').payload).toEqual({
      'max-items': '3',
      'a-b-2c': true,
      dry_run: true,
      'ends-': true,
      maxSize: '1',
      'max-size': '2',
      maxItems: '3',
      aB2c: true,
    });
  });

  it('puts names in camel case behind all others', () => {
    expect(Object.entries(file('main.mld', '--dry-run', '--force').payload)).toEqual([
      ['dry-run', true],
      ['force', true],
      ['dryRun', true],
    ]);
  });

  it('keeps a name that every object has', () => {
    const { payload } = file('main.mld', '--__proto__', 'x', '--constructor');
    expect(Object.entries(payload)).toEqual([
      ['__proto__', 'x'],
      ['constructor', true],
    ]);
  });

  it.each(['--env', '--state', '--json', '--watch', '--format', '--output', '--eval'])('leaves %s to scripts of `mlld run`', (flag) => {
    expect(run('job', flag, 'v').payload).toEqual({ [flag.slice(2)]: 'v' });
  });

  it.each([
    [['--', '--checkpoint', '--mode', 'fast', '--checkpont'], { checkpoint: true, mode: 'fast', checkpont: true }],
    [['--topic', 'x', '--', '--topic', 'y'], { topic: 'y' }],
    [['--quick', '--', '-d', '--resume=@ask'], { quick: true, d: true, resume: '@ask' }],
    [['--'], {}],
  ])('takes everything behind -- for data: %j', (flags, payload) => {
    for (const request of [file('job.mld', ...flags), run('job', ...flags)])
      expect(request).toMatchObject({ payload, cache: {}, debug: false });
  });

  it.each([
    ['--timeout', '5s'],
    ['--debug'],
    ['-d'],
    ['--mlld-env', 'A=1'],
    ['--inject', '@a={}'],
    ['--payload', '@a={}'],
    ['--checkpoint'],
    ['--no-checkpoint'],
    ['--resume'],
    ['--fork', 'other'],
    ['--structured'],
    ['--no-stream'],
    ['--error-behavior', 'halt'],
    ['--mode', 'strict'],
    ['--md'],
    ['--metrics'],
  ])('never makes %s part of the payload', (...flags) => {
    expect(file('main.mld', ...flags).payload).toEqual({});
    expect(run('job', ...flags).payload).toEqual({});
  });

  it.each(['--new', '--fresh'])('suggests the flag of `mlld run` for %s to a script', (flag) => {
    expect(run('job', flag).payload).toEqual({ new: true });
    expect(file('job.mld', flag).payload).toEqual({});
  });
});

describe('options', () => {
  it('are the same for `mlld run NAME` as for `mlld FILE`', () => {
    const flags = ['--error-behavior', 'halt', '--structured', '--no-stream', '--metrics', '--md', '--timeout', '5s', '--debug'];
    const { cache: _, ...request } = file('job', ...flags);
    expect(run('job', ...flags)).toMatchObject(request);
    expect(request).toMatchObject({ errorBehavior: 'halt', structured: true, streaming: false, metrics: true, mode: 'markdown' });
  });

  it.each([
    ['900ms', 900],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1500', 1500],
    ['1.5s', 1500],
  ])('reads --timeout %s', (text, ms) => {
    expect(file('main.mld', '--timeout', text).timeoutMs).toBe(ms);
  });

  it.each(['0', '0s', 'soon', '5d', '', '1e3', '999h'])('refuses --timeout %j', (text) => {
    expect(() => file('main.mld', '--timeout', text)).toThrow(/timeout/);
  });

  it.each([
    [['--timeout'], /--timeout needs a value/],
    [['--timeout', '-5s'], /timeout/],
    [['--fork'], /--fork/],
    [['--fork', '--checkpoint'], /--fork/],
    [['--inject'], /--inject/],
    [['--mode', 'loose'], /--mode/],
    [['--error-behavior', 'stop'], /--error-behavior/],
    [['--changed', 'forget'], /--changed/],
    [['--checkpoint=yes'], /--checkpoint takes no value/],
    [['---x'], /---x/],
    [['--no-checkpoint', '--plan'], /--no-checkpoint and --plan/],
    [['--watch'], /--watch is not supported/],
    [['-o', 'x.md'], /--output is not supported/],
    [['extra'], /extra/],
    [['-e', 'show 1'], /main\.mld/],
  ])('refuses %j', (flags, message) => {
    expect(() => file('main.mld', ...flags)).toThrow(message);
  });

  it('takes code that begins with a dash', () => {
    expect(file('-e', '- item', '--topic', 'x')).toMatchObject({ code: '- item', payload: { topic: 'x' } });
  });

  it('collects what may be repeated, in order', () => {
    expect(file('m.mld', '--state', 'a=1', '--inject', '@x={}', '--state', 'b=2', '--payload', '@y={}')).toMatchObject({
      state: ['a=1', 'b=2'],
      inject: ['@x={}', '@y={}'],
    });
  });

  it('lets help win over everything that is wrong', () => {
    expect(file('a', 'b', '--watch', '--help').help).toBe(true);
  });
});

describe('the cache', () => {
  it.each([
    [[], {}],
    [['--checkpoint'], { checkpoint: true }],
    [['--fresh'], { fresh: true }],
    [['--new'], { fresh: true }],
    [['--resume'], { resume: '' }],
    [['--resume', '--topic', 'x'], { resume: '' }],
    [['--resume', '@ask:0'], { resume: '@ask:0' }],
    [['--resume=middle part'], { resume: 'middle part' }],
    [['--fork', 'collect', '--fork', 'sort.mld'], { forks: ['collect', 'sort.mld'] }],
    [['--fresh', '--resume', '@ask', '--fork', 'a'], { fresh: true, resume: '@ask', forks: ['a'] }],
    [['--changed', 'ask'], { changed: 'ask' }],
    [['--no-checkpoint'], { noCheckpoint: true }],
  ])('reads %j', (flags, cache) => {
    expect(file('job.mld', ...flags).cache).toEqual(cache);
    expect(run('job', ...flags).cache).toEqual(cache);
  });

  it.each([['--checkpoint'], ['--fresh'], ['--new'], ['--resume'], ['--resume', '@f'], ['--fork', 'job'], ['--changed', 'ask']])(
    'refuses %s together with --no-checkpoint',
    (...flags) => {
      expect(() => file('job.mld', '--no-checkpoint', ...flags)).toThrow(/--no-checkpoint/);
      expect(() => run('job', ...flags, '--no-checkpoint')).toThrow(/--no-checkpoint/);
    },
  );

  it('refuses two targets', () => {
    expect(() => file('job.mld', '--resume', '@a', '--resume', '@b')).toThrow(/--resume/);
  });
});

it.each([
  [
    ['job', '--checkpoint'],
    ['job', '--resume'],
  ],
  [
    ['job', '--model', 'opus', '--fresh', '--fork', 'other'],
    ['job', '--model', 'opus', '--fork', 'other', '--resume'],
  ],
  [
    ['job', '--resume', '@ask', '--n', '5'],
    ['job', '--n', '5', '--resume'],
  ],
  [
    ['job', '--max-calls', '2', '--budget', '1usd'],
    ['job', '--budget', '1usd', '--resume'],
  ],
  [
    ['job', '--fresh', '--', '--fresh', '--mode', 'x'],
    ['job', '--resume', '--', '--fresh', '--mode', 'x'],
  ],
])('says how to go on after %j', (argv, words) => {
  expect(resumeArguments(argv, 'run')).toEqual(words);
});
