/** A run that can't record any more says what helps with the disk, or with the store of a team. calls.md 14.3. */
import { expect, it } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import { pausedError } from '../../src/session/pause-error.js';

const hintFor = (code: string): string | undefined =>
  pausedError({ pausedBy: { class: 'journal', message: 'made up', error: new JournalError(code, 'made up') } }).hint;

it('offers to continue without a record where the disk takes nothing', () => {
  expect(hintFor('JOURNAL_IO')).toContain('--unrecorded');
});

it.each(['STORE_DENIED', 'STORE_UNREACHABLE', 'STORE_SPILLED', 'STORE_SEALED', 'STORE_WENT_BACK', 'STORE_FAILED'])(
  'offers nothing for %s that a store refuses',
  (code) => {
    expect(hintFor(code)).toContain('--resume');
    expect(hintFor(code)).not.toContain('--unrecorded');
  },
);
