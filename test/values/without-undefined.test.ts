import { expect, it } from 'vitest';
import { withoutUndefined } from '../../src/values/without-undefined.js';

interface Report {
  readonly status: string;
  readonly error?: string;
  readonly count?: number | null;
}

it('leaves out members that are undefined, and keeps every other value and the order', () => {
  const report = withoutUndefined<Report>({ count: null, status: '', error: undefined });
  expect(Object.entries(report)).toEqual([
    ['count', null],
    ['status', ''],
  ]);
});
