import { describe, expect, it } from 'vitest';
import { cachePolicy, ownLimitOfReuse, type PolicyFlags, type ResumeMode, type Scope } from '../../../replay/memo/policy.js';

const OFF = { records: false, reuses: 'no' };
const ALL = { records: true, reuses: 'all' };
const RUN = { records: true, reuses: 'this-run' };
const policy = (flags: PolicyFlags, header?: ResumeMode, scope?: Scope): unknown => cachePolicy({ flags, header, scope });

describe('cache policy', () => {
  it.each<[ResumeMode | undefined, unknown, unknown, unknown, unknown]>([
    // header, no flags, --checkpoint, --resume, --fork
    [undefined, OFF, ALL, ALL, ALL],
    ['auto', ALL, ALL, ALL, ALL],
    ['manual', RUN, RUN, ALL, RUN],
    ['never', OFF, OFF, ALL, OFF],
  ])('follows the table for header %s', (header, none, checkpoint, resume, fork) => {
    expect(policy({}, header)).toEqual(none);
    expect(policy({ checkpoint: true }, header)).toEqual(checkpoint);
    expect(policy({ resume: '' }, header)).toEqual(resume);
    expect(policy({ forks: ['collect'] }, header)).toEqual(fork);
    expect(policy({ fresh: true }, header)).toEqual(checkpoint);
    expect(policy({ checkpoint: true, resume: '@ask', noCheckpoint: true }, header)).toEqual(OFF);
  });

  it('records and reuses nothing where only recording is requested', () => {
    const only = { records: true, reuses: 'no' };
    const record = { record: true };
    expect(policy(record)).toEqual(only);
    expect(policy(record, undefined, { name: 'again', resume: 'manual', ttlMs: 5 })).toEqual(only);
    expect(policy(record, undefined, { name: 'settled', resume: 'auto' })).toEqual(ALL);
    expect(policy(record, undefined, { name: 'live', resume: 'never' })).toEqual(OFF);
    expect(policy(record, 'never')).toEqual(OFF);
    expect(policy(record, 'never', { name: 'again', resume: 'manual' })).toEqual(OFF);
    expect(policy(record, 'auto')).toEqual(ALL);
    expect(policy(record, 'manual')).toEqual(RUN);
    expect(policy({ ...record, checkpoint: true })).toEqual(ALL);
    expect(policy({ ...record, noCheckpoint: true })).toEqual(OFF);
  });

  it('lets a scope replace the script’s mode until the next checkpoint', () => {
    const live: Scope = { name: 'live', resume: 'never' };
    expect(policy({}, 'auto', live)).toEqual(OFF);
    expect(policy({ checkpoint: true }, undefined, live)).toEqual(OFF);
    expect(policy({}, 'auto', { name: 'again', resume: 'manual' })).toEqual(RUN);
    expect(policy({}, 'never', { name: 'settled', resume: 'auto' })).toEqual(ALL);
    expect(policy({}, undefined, { name: 'settled', resume: 'auto' })).toEqual(ALL);
    expect(policy({}, undefined, { name: 'again', resume: 'manual' })).toEqual(OFF);
    expect(policy({ checkpoint: true }, 'never', { name: 'again', resume: 'manual' })).toEqual(RUN);
  });

  it('applies ttl and complete only where results are reused, and never with --resume', () => {
    const scope: Scope = { name: 'weather', ttlMs: 0, complete: true };
    expect(policy({}, 'auto', scope)).toEqual({ ...ALL, ttlMs: 0, requireComplete: 'weather' });
    expect(policy({}, undefined, scope)).toEqual(OFF);
    expect(policy({ resume: '' }, 'auto', scope)).toEqual(ALL);
  });
});

it.each([{ changed: 'ask' }, { changed: 'serve' }, { keepFiles: true }] as const)(
  'records and reuses with a flag that is about results: %o',
  (flags) => {
    expect(cachePolicy({ flags, header: undefined, scope: undefined })).toMatchObject({ records: true, reuses: 'all' });
  },
);

describe('what decides about results and is known to one run alone', () => {
  const scope: Scope = { name: 'draft', ttlMs: 60_000, complete: true };

  it.each<[string | undefined, PolicyFlags, Scope | undefined]>([
    [undefined, { checkpoint: true }, undefined],
    ['--fork', { forks: ['collect'] }, undefined],
    ['--changed', { changed: 'ask' }, undefined],
    ['--changed', { changed: 'ask-guards' }, undefined],
    [undefined, { changed: 'serve' }, undefined],
    ['the ttl of its checkpoint', { checkpoint: true }, scope],
    ['the option complete of its checkpoint', { checkpoint: true }, { name: 'draft', complete: true }],
    [undefined, { resume: '' }, scope],
  ])('is %s', (limit, flags, lastScope) => {
    expect(ownLimitOfReuse(flags, cachePolicy({ flags, header: undefined, scope: lastScope }))).toBe(limit);
  });
});
