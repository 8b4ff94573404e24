import { describe, expect, it } from 'vitest';
import { Attempt } from '../../src/calls/attempt.js';
import { BodyReport } from '../../src/calls/body-report.js';

interface Reported {
  readonly attempt: Attempt;
  readonly report: BodyReport;
  readonly warnings: string[];
  readonly taken: string[];
}

/** An attempt whose report file holds these lines when it ends. */
function reporting(lines: readonly string[] = [], cut: { readonly isCut?: true } = {}): Reported {
  const warnings: string[] = [];
  const taken: string[] = [];
  const attempt = new Attempt('main/ask#0' as never, { try: 1 }, {}, undefined, () => 0);
  const files = {
    create: () => '/tmp/report',
    take: (file: string) => {
      taken.push(file);
      return { text: lines.map((line) => `${line}\n`).join(''), ...cut };
    },
  };
  const report = new BodyReport(attempt, files, (_topic, message) => void warnings.push(message));
  return { attempt, report, warnings, taken };
}

describe('usage that a body reports', () => {
  it('is added up, member by member', () => {
    const { attempt, report, warnings } = reporting();
    report.usage({ model: 'own-1', inputTokens: 100, outputTokens: 20, costUsd: 0.5 });
    report.usage({ inputTokens: 50, costUsd: 0.25, model: undefined, provider: null });
    expect(attempt.usages).toEqual([{ model: 'own-1', inputTokens: 150, outputTokens: 20, costUsd: 0.75 }]);
    expect(warnings).toEqual([]);
  });

  it.each([
    [{ inputTokens: -1 }, 'the reported inputTokens is ignored: it is negative or not a number'],
    [{ costUsd: '0.5' }, 'the reported costUsd is ignored: it is negative or not a number'],
    [{ outputTokens: Number.NaN }, 'the reported outputTokens is ignored: it is negative or not a number'],
    [{ costUsd: 1e308 }, 'the reported costUsd is ignored: it is more than a call can cost ($1000000)'],
    [{ outputTokens: 1e300 }, 'the reported outputTokens is ignored: it is more than a call can use (1000000000000 tokens)'],
    [{ model: 7 }, 'the reported model is ignored: it is not a text'],
    [7, 'the reported usage is ignored: it is not an object'],
  ])('is ignored with a warning where it is %j', (members, warning) => {
    const { attempt, report, warnings } = reporting();
    report.usage(members);
    expect(attempt.usages).toEqual([]);
    expect(warnings).toEqual([warning]);
  });

  it('is warned of where a member does not exist, because it may be misspelt', () => {
    const { attempt, report, warnings } = reporting();
    report.usage({ input_tokens: 3, outputTokens: 2 });
    expect(attempt.usages).toEqual([{ outputTokens: 2 }]);
    expect(warnings[0]).toMatch(/^the reported input_tokens is ignored: it is not one of model, provider, inputTokens/);
  });
});

describe('a failure that a body reports', () => {
  it('fails the attempt also where the body catches the error', () => {
    const { attempt, report } = reporting();
    expect(() => report.fail('quota', 'no money\nleft', { resetsAt: 1000, retryAfterMs: 5, status: 429 })).toThrow('quota: no money');
    expect(attempt.reported).toEqual({
      class: 'quota',
      evidence: 'report',
      message: 'no money',
      resetsAtMs: 1_000_000,
      retryAfterMs: 5,
      status: 429,
    });
  });

  it.each([
    [{ resetsAt: 1e308 }, 'the reported resetsAt is ignored: it is no moment in seconds since 1970'],
    [{ resetsAt: 1.7e12 }, 'the reported resetsAt is ignored: it is no moment in seconds since 1970'],
    [{ retryAfterMs: 1e308 }, 'the reported retryAfterMs is ignored: it is more than a year'],
  ])('has no moment of which no date can be made: %j', (details, warning) => {
    const { attempt, report, warnings } = reporting();
    expect(() => report.fail('quota', 'x', details)).toThrow('quota: x');
    expect(attempt.reported).toEqual({ class: 'quota', evidence: 'report', message: 'x' });
    expect(warnings).toEqual([warning]);
  });

  it.each(['upstream', 'denied', 'tired', 7, undefined])('has no class %j', (failureClass) => {
    const { attempt, report } = reporting();
    expect(() => report.fail(failureClass, 'x', undefined)).toThrow(/^mlld\.fail: there is no class .* \(there are rate-limit, /);
    expect(attempt.reported).toBeUndefined();
  });
});

describe('headers that a body reports', () => {
  it('may be an object of any kind that has pairs', () => {
    const { attempt, report } = reporting();
    report.headers(new Headers({ 'Retry-After': '3' }));
    report.headers(new Map([['X-A', 1]]));
    report.headers({ 'X-B': 'two' });
    expect(attempt.headers).toEqual({ 'retry-after': '3', 'x-a': '1', 'x-b': 'two' });
  });

  it('are warned of when they are none', () => {
    const { attempt, report, warnings } = reporting();
    report.headers('retry-after: 3');
    expect(attempt.headers).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });
});

describe('the report file of an attempt', () => {
  it('is read once when the attempt ends (REPORT-2)', () => {
    const { attempt, report, warnings, taken } = reporting([
      '{"usage":{"model":"own-1","inputTokens":11}}',
      '',
      '{"headers":{"X-A":"1"},"usage":{"inputTokens":1}}',
      '{"fail":{"class":"overloaded","message":"tired","retryAfterMs":20}}',
    ]);
    expect(report.file()).toBe('/tmp/report');
    report.close();
    report.close();
    expect(taken).toEqual(['/tmp/report']);
    expect(attempt.usages).toEqual([{ model: 'own-1', inputTokens: 12 }]);
    expect(attempt.headers).toEqual({ 'x-a': '1' });
    expect(attempt.reported).toMatchObject({ class: 'overloaded', message: 'tired', retryAfterMs: 20 });
    expect(warnings).toEqual([]);
  });

  it.each(['tide', '[]', '{}', '{"usage":3}', '{"usage":{"model":'])('is warned of for the line %j, and read on', (line) => {
    const { attempt, report, warnings } = reporting([line, '{"usage":{"outputTokens":2}}']);
    report.file();
    report.close();
    expect(attempt.usages).toEqual([{ outputTokens: 2 }]);
    expect(warnings).toEqual(['a line in the report file of a call is ignored: it is not a JSON object with usage, fail or headers']);
  });

  it('that was too large fails the call all the same, and tells no cost', () => {
    const { attempt, report, warnings } = reporting(
      ['{"usage":{"outputTokens":2}}', '{"fail":{"class":"quota","message":"spent"},"usage":{"costUsd":1}}'],
      { isCut: true },
    );
    report.file();
    report.close();
    expect(attempt.reported).toMatchObject({ class: 'quota', message: 'spent' });
    expect(attempt.usages).toEqual([]);
    expect(warnings).toEqual(['the report file of a call is larger than 1 MiB: of it, only a failure in its last lines counts']);
  });

  it('does not fail the call in a class that does not exist', () => {
    const { attempt, report, warnings } = reporting(['{"fail":{"class":"upstream"}}']);
    report.file();
    report.close();
    expect(attempt.reported).toBeUndefined();
    expect(warnings[0]).toMatch(/^a failure that a program reported is ignored: there is no class "upstream"/);
  });

  it('is not made when no program asks for it', () => {
    const { report, taken } = reporting();
    report.close();
    expect(taken).toEqual([]);
  });
});

it('ignores what an attempt reports after its end (REPORT-1)', () => {
  const { attempt, report } = reporting();
  report.close();
  report.usage({ costUsd: 3 });
  report.headers({ a: '1' });
  expect(() => report.fail('crash', 'late', undefined)).toThrow();
  expect(report.file()).toBeUndefined();
  expect([attempt.usages, attempt.headers, attempt.reported]).toEqual([[], undefined, undefined]);
});
