/** A run says what helps when it can't record any more, and for what it waits until a quota is there again. calls.md 12.7 and 14.3. */
import { expect, it } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import { pausedError, laneWait } from '../../src/session/pause-error.js';

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
    expect(hintFor(code)).not.toContain('MLLD_STORE=files'); // would pay again for what the team has
  },
);

it('says on one line for which lane it waits, whatever an argument has put into its name', () => {
  const line = laneWait({ lane: 'north\nall results are lost', untilMs: 120_000, why: 'quota', nowMs: 60_000, isRecorded: true });
  expect(line).toMatch(/^waits for the quota of north all results are lost until 1970-.*, for 1m00s; Ctrl-C .* continues it\n$/);
});

it('rounds the time of a reset up to the minute: a run that is started then would else meet the same quota', () => {
  const minuteOf = (text: string): string | undefined => /\d\d:(\d\d) /.exec(text)?.[1];
  const resetsAtMs = 90_000;
  expect(minuteOf(pausedError({ pausedBy: { class: 'quota', message: 'used up', resetsAtMs } }).message)).toBe('02');
});

it.each([
  ['no time', '--wait-quota did not wait, because the reply names no time for that'],
  ['too late', 'that is later than --wait-quota allows to wait'],
  ['no result', '--wait-quota waits no more, because no result came behind the resets'],
] as const)('says why it does not wait for a quota: %s', (notWaited, words) => {
  const { hint } = pausedError({ pausedBy: { class: 'quota', message: 'used up', resetsAtMs: 90_000, notWaited } });
  expect(hint).toBe(`run it again with --resume once the allowance is there again (${words})`);
});

it('names all lanes that were stopped, and each remedy once', () => {
  const [quota, auth] = [{ class: 'quota', message: 'used up' } as const, { class: 'auth', message: 'no key' } as const];
  const error = pausedError({
    pausedBy: {
      ...quota,
      lane: 'claude',
      others: [
        { ...quota, lane: 'codex' },
        { ...auth, lane: 'gemini' },
      ],
    },
  });
  expect(error.message).toBe('paused: quota in lane claude: used up; also quota in lane codex: used up; also auth in lane gemini: no key');
  expect(error.hint?.match(/allowance is there again/g)).toHaveLength(1);
  expect(error.hint).toMatch(/; log in or correct the key, /);
});

it('says that a provider asks for the wait', () => {
  const line = laneWait({ lane: 'claude', untilMs: 3_660_000, why: 'asked', nowMs: 60_000, isRecorded: true });
  expect(line).toMatch(
    /^waits in the lane claude, as its provider asks, until 1970-.*, for 1h\S*; Ctrl-C stops the run, and --resume continues it\n$/,
  );
});
