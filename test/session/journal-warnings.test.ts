import { beforeEach, expect, it, vi } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import { createJournalWarnings, unkeptNotice, type JournalWarnings } from '../../src/session/ports/journal-warnings.js';
import { runRef } from '../journal/support/facts.js';

let lines: string[];
let warnings: JournalWarnings;
beforeEach(() => {
  lines = [];
  warnings = createJournalWarnings((text) => lines.push(text));
});

const full = new JournalError('JOURNAL_DISK_FULL', "can't append: no space", { hint: 'Free some space.' });

it('warns once that the journal can not be written, with the remedy and with what works all the same', () => {
  warnings.error(full, 'but results of earlier runs are reused');
  warnings.error(full);
  expect(lines).toEqual([
    "warning: the journal can't be written, results are not recorded, but results of earlier runs are reused: can't append: no space (Free some space.)\n",
  ]);
});

it.each(['STORE_SEALED', 'STORE_WENT_BACK', 'STORE_DENIED'])(
  'says of a store that takes nothing more only that no call begins: results of calls in flight are kept (%s)',
  (code) => {
    warnings.error(new JournalError(code, 'the run was taken', { hint: 'Run it again.' }));
    expect(lines).toEqual(['warning: no further call begins: the run was taken (Run it again.)\n']);
  },
);

it('says once that results lie on the own disk, also behind another error: nobody else has them', () => {
  const away = new JournalError('STORE_UNREACHABLE', 'the store is away');
  const spilled = new JournalError('STORE_SPILLED', 'the store is away; the rest is in .mlld/spill', { hint: 'mlld store push' });
  for (const error of [away, spilled, spilled, away]) warnings.error(error);
  expect(lines).toEqual([
    'warning: no further call begins: the store is away\n',
    'warning: the store is away; the rest is in .mlld/spill (mlld store push)\n',
  ]);
});

it('is silent about a missing source text once nothing can be recorded at all', () => {
  warnings.error(full);
  warnings.gap(full);
  expect(lines).toHaveLength(1);
});

it('reports an outage and its end once for all that wait', () => {
  warnings.outage(full, 60_000);
  warnings.outage(full, 60_000);
  warnings.outage(undefined, 60_000);
  expect(lines).toEqual(["warning: can't append: no space; calls wait, for 60 s at most (--journal-wait)\n"]);
  warnings.outage(undefined, 60_000);
  expect(lines[1]).toBe('the journal is written again; nothing is missing in it\n');
});

it('says each minute of a long outage how long calls have waited', () => {
  vi.useFakeTimers();
  try {
    warnings.outage(full, 600_000);
    vi.advanceTimersByTime(125_000);
    expect(lines.slice(1)).toEqual([60, 120].map((s) => `calls have waited for ${s} of 600 s: the journal can't be written\n`));
    warnings.outage(undefined, 600_000);
    warnings.outage(full, 600_000);
    warnings.error(full);
    vi.advanceTimersByTime(600_000);
    expect(lines).toHaveLength(6);
  } finally {
    vi.useRealTimers();
  }
});

it('warns once of each function whose result can not be read', () => {
  for (const fn of ['ask', 'ask', 'draw']) warnings.unreadable(fn, 'the call is executed again');
  expect(lines).toEqual(
    ['ask', 'draw'].map((fn) => `warning: a recorded result of @${fn} can't be read any more; the call is executed again\n`),
  );
});

it('warns once of damage, and never of the torn tail that a killed run leaves', () => {
  warnings.defect({ kind: 'torn-tail', run: runRef(1), message: 'torn' });
  expect(lines).toEqual([]);
  for (const n of [1, 2]) warnings.defect({ kind: 'corrupt', run: runRef(n), message: 'line 3 is damaged' });
  const { run } = runRef(1);
  expect(lines).toEqual([`warning: run ${run}: line 3 is damaged; see mlld journal verify ${run}\n`]);
});

it('names the remedy for secret results that were not kept', () => {
  expect(unkeptNotice(0)).toBeUndefined();
  expect(unkeptNotice(2)).toBe(
    '2 results are secret and were not kept for later runs: MLLD_JOURNAL_KEY has the value "none"; unset it, or set a key (openssl rand -hex 32), to keep them sealed',
  );
});
