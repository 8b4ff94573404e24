import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { DEFAULT_CALL_SETTINGS } from '../../src/calls/options.js';
import { callSettings, headerBudget, recordedCallSettings } from '../../src/session/script/call-settings.js';

const project = (calls: object) => ({ root: '/p', config: { scriptDir: '', prefixes: [], suppressWarnings: [], calls } });
const header = (text: string) => headerBudget(parseScript(text, { mode: 'strict' }), { display: 'a.mld', text });

describe('the settings of calls', () => {
  it('are those of the command line, else of the header, else of the configuration, else usual', () => {
    const configured = project({ budget: { usd: 1 }, concurrency: 4 });
    expect(callSettings({ project: configured, calls: { budget: { usd: 3 } } }, { usd: 2 }).budget).toEqual({ usd: 3 });
    expect(callSettings({ project: configured }, { usd: 2 }).budget).toEqual({ usd: 2 });
    expect(callSettings({ project: configured })).toEqual({ ...DEFAULT_CALL_SETTINGS, budget: { usd: 1 }, concurrency: 4 });
  });

  it('have the budget of the header, or say where it is not one', () => {
    expect(header('budget: 5usd,300calls\nshow "x"')).toEqual({ usd: 5, calls: 300 });
    expect(header('show "x"')).toBeUndefined();
    expect(() => header('resume: auto\nbudget: 5eur\nshow "x"')).toThrow(
      expect.objectContaining({ code: 'BUDGET', location: expect.objectContaining({ file: 'a.mld', at: 13 }) as object }),
    );
  });

  it('are recorded where they are not usual', () => {
    expect(recordedCallSettings(DEFAULT_CALL_SETTINGS)).toEqual({});
    const settings = { ...DEFAULT_CALL_SETTINGS, forced: { retries: 1 }, retries: 7, timeoutMs: 5, budget: { usd: 1 }, waitQuotaMs: 9 };
    expect(recordedCallSettings(settings)).toEqual({ calls: { retries: 1, timeoutMs: 5, budget: { usd: 1 }, waitQuotaMs: 9 } });
  });
});
