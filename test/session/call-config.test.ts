import { describe, expect, it } from 'vitest';
import { callConfig } from '../../src/session/call-config.js';
import { unknownSettings } from '../../src/session/unknown-settings.js';

describe('calls and prices of mlld-config.json', () => {
  it('reads every setting', () => {
    const calls = {
      retries: { timeout: 0, crash: 1 },
      timeout: '5m',
      concurrency: 8,
      budget: '5usd,300calls',
      budgetStrict: true,
      allowFailures: true,
      waitQuota: '2h',
      backoff: { first: '5ms', max: 20 },
      lanes: { 'slow/*': { max: 1 }, 'claude/*': { max: 8, start: 4 } },
      stallAfter: '1s',
      files: { count: 3, eachMiB: 0.5 },
    };
    const prices = { 'local-*': { input: 0, output: 0 }, 'gpt-5': { input: 1, cachedInput: 0.5 } };
    expect(unknownSettings({ calls, prices })).toEqual([]);
    expect(callConfig({ calls, prices })).toEqual({
      retries: { timeout: 0, crash: 1 },
      timeoutMs: 300_000,
      concurrency: 8,
      budget: { usd: 5, calls: 300 },
      budgetStrict: true,
      allowFailures: true,
      waitQuotaMs: 7_200_000,
      backoff: { firstMs: 5, maxMs: 20 },
      lanes: [
        ['slow/*', { max: 1 }],
        ['claude/*', { max: 8, start: 4 }],
      ],
      stallAfterMs: 1000,
      files: { keep: true, count: 3, eachBytes: 524_288, totalBytes: 52_428_800 },
      prices,
    });
  });

  it('names what is no setting', () => {
    const calls = { budgett: '5usd', lanes: { claude: { maximum: 1, start: 2 } }, backoff: { first: '1s' } };
    const others = {
      dependencies: {},
      mode: 'strict',
      lanes: {},
      prices: { m: { input: 1, out: 2 } },
      agent: { modle: 'x' },
      store: { adress: 'x' },
    };
    expect(unknownSettings({ calls, ...others })).toEqual([
      '"lanes" in mlld-config.json is no setting, and changes nothing; did you mean "calls.lanes"?',
      '"calls.budgett" in mlld-config.json is no setting, and changes nothing; did you mean "calls.budget"?',
      '"calls.lanes.claude.maximum" in mlld-config.json is no setting, and changes nothing',
      '"prices.m.out" in mlld-config.json is no setting, and changes nothing',
      '"agent.modle" in mlld-config.json is no setting, and changes nothing; did you mean "agent.model"?',
      '"store.adress" in mlld-config.json is no setting, and changes nothing',
    ]);
    expect(unknownSettings({ calls: { 'x\ny': 1 } })).toEqual(['"calls.x\\ny" in mlld-config.json is no setting, and changes nothing']);
  });

  it('names prices beside a slip or in the wrong place, because calls would then be without a price', () => {
    const rate = { m: { input: 1 } };
    expect(unknownSettings({ price: rate, calls: { prices: rate }, model: 'x' })).toEqual([
      '"price" in mlld-config.json is no setting, and changes nothing; did you mean "prices"?',
      '"calls.prices" in mlld-config.json is no setting, and changes nothing; did you mean "prices"?',
    ]);
  });

  it('leaves out what is not configured', () => {
    expect(callConfig({})).toBeUndefined();
    expect(callConfig({ calls: { retries: 2 } })).toEqual({ retries: 2 });
    expect(callConfig({ calls: { files: false } })?.files).toMatchObject({ keep: false, count: 20 });
    expect(callConfig({ calls: { backoff: { first: '2m' } } })).toEqual({ backoff: { firstMs: 120_000, maxMs: 120_000 } });
  });

  it.each<[object, RegExp]>([
    [{ calls: [] }, /"calls" .* an object/],
    [{ calls: { retries: -1 } }, /"calls.retries" .* further attempts/],
    [{ calls: { retries: { quota: 1 } } }, /"calls.retries"/],
    [{ calls: { timeout: 'soon' } }, /"calls.timeout" .* duration/],
    [{ calls: { timeout: 0 } }, /"calls.timeout" .* longer than 0/],
    [{ calls: { concurrency: 0.5 } }, /"calls.concurrency" .* at least 1/],
    [{ calls: { budget: '5' } }, /"calls.budget" .* list of limits/],
    [{ calls: { budgetStrict: 'yes' } }, /"calls.budgetStrict" .* true or false/],
    [{ calls: { allowFailures: 1 } }, /"calls.allowFailures"/],
    [{ calls: { waitQuota: true } }, /"calls.waitQuota"/],
    [{ calls: { backoff: '1s' } }, /"calls.backoff" .* "first"/],
    [{ calls: { backoff: { first: '5s', max: '1s' } } }, /"calls.backoff.max" .* at least as long/],
    [{ calls: { lanes: ['claude'] } }, /"calls.lanes" /],
    [{ calls: { lanes: { claude: 8 } } }, /"calls.lanes.claude"/],
    [{ calls: { lanes: { claude: { max: 0 } } } }, /"calls.lanes.claude.max"/],
    [{ calls: { stallAfter: '-1s' } }, /"calls.stallAfter"/],
    [{ calls: { files: 'no' } }, /"calls.files" .* true, false, or an object/],
    [{ calls: { files: { count: 0 } } }, /"calls.files.count" .* at least 1/],
    [{ calls: { files: { totalMiB: 0 } } }, /"calls.files.totalMiB" .* above 0/],
    [{ calls: { stallAfter: Infinity } }, /"calls.stallAfter"/],
    [{ prices: { 'gpt-5': { input: Infinity } } }, /"prices.gpt-5.input"/],
    [{ prices: { 'gpt-5': 3 } }, /"prices.gpt-5" .* US dollars/],
    [{ prices: { 'gpt-5': { output: 3 } } }, /"prices.gpt-5.input"/],
    [{ prices: { 'gpt-5': { input: 1, output: -3 } } }, /"prices.gpt-5.output"/],
  ])('refuses %j', (config, message) => {
    expect(() => callConfig(config as Parameters<typeof callConfig>[0])).toThrow(message);
  });

  it('says what a budget takes', () => {
    expect(() => callConfig({ calls: { budget: '1eur' } })).toThrow(
      expect.objectContaining({
        message: '"calls.budget" in mlld-config.json is "1eur", and must be a list of limits: "5usd,2Mtok,300calls,3h"',
        hint: 'a list of limits, each at most once: 5usd, 2Mtok (k, M), 300calls, 3h (s, m, h)',
      }),
    );
  });
});
