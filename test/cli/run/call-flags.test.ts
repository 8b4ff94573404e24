import { describe, expect, it } from 'vitest';
import { parseRunRequest } from '../../../cli/options/run-request.js';

const callsOf = (...words: readonly string[]) => parseRunRequest(['job.mld', ...words], 'file').calls;

describe('the flags about calls', () => {
  it('become settings, and nothing for the script', () => {
    const words = ['--retries', '0', '--call-timeout', '5m', '--concurrency', '8', '--budget', '5usd,2Mtok', '--max-calls', '300'];
    const request = parseRunRequest(['job.mld', ...words, '--budget-strict', '--allow-failures', '--wait-quota', '2h'], 'run');
    expect(request.payload).toEqual({});
    expect(request.calls).toEqual({
      forced: { retries: 0, timeoutMs: 300_000 },
      concurrency: 8,
      budget: { usd: 5, tokens: 2_000_000, calls: 300 },
      budgetStrict: true,
      allowFailures: true,
      waitQuotaMs: 7_200_000,
    });
  });

  it('say nothing when they are not there', () => {
    expect(callsOf()).toBeUndefined();
  });

  it.each([
    [['--retries', 'many'], /Invalid retries: many/],
    [['--retries', '1.5'], /Invalid retries/],
    [['--concurrency', '0'], /Invalid concurrency: 0/],
    [['--max-calls', '0'], /Invalid max-calls: 0/],
    [['--call-timeout', '0'], /Invalid call-timeout: 0/],
    [['--wait-quota', 'soon'], /Invalid wait-quota: soon/],
    [['--budget', '5'], /--budget: "5"/],
    [['--budget', '3calls', '--max-calls', '4'], /both limit the calls/],
    [['--budget'], /--budget needs a value/],
  ])('refuses %j', (words, message) => {
    expect(() => callsOf(...words)).toThrow(message);
  });
});
