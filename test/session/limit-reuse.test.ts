import { expect, it } from 'vitest';
import { sha256 } from '../../journal/canonical.js';
import type { CallKey } from '../../journal/ids.js';
import { pipelineState } from '../../replay/pipeline/pipeline-state.js';
import type { CachedResult, CacheQuery, ResultCache } from '../../src/runtime/calls/result-cache.js';
import { limitReuse } from '../../src/session/pipeline/create-runtime.js';
import type { PipelineRunOptions } from '../../src/session/pipeline/run-pipeline-options.js';
import { NO_RESULT_CACHE } from '../../src/session/no-result-cache.js';

const lost = sha256('a call whose consequences a crash lost') as CallKey;
const other = sha256('another call') as CallKey;
const found = { key: lost } as CachedResult;
const everything: ResultCache = { ...NO_RESULT_CACHE(), lookup: async () => found };
const call = (key: CallKey): CacheQuery => ({ key }) as CacheQuery;
const flags = (options: Partial<PipelineRunOptions>): PipelineRunOptions => ({ checkpoint: false, ...options }) as PipelineRunOptions;

it('reuses in a plain resume only calls whose consequences are lost, and records every result', async () => {
  const cache = limitReuse(everything, flags({}), pipelineState.initial(), new Set([lost]));
  expect(cache.policy()).toEqual({ records: true, reuses: true });
  expect([await cache.lookup(call(lost)), await cache.lookup(call(other))]).toEqual([found, undefined]);
});

it.each<[string, Partial<PipelineRunOptions>]>([
  ['--checkpoint', { checkpoint: true }],
  ['--fork', { forks: ['other'] }],
])('reuses whatever is recorded with %s', async (_, options) => {
  expect(await limitReuse(everything, flags(options), pipelineState.initial()).lookup(call(other))).toBe(found);
});
