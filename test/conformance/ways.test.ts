// The rule of which cases are run buffered as well. A rule that chose none would go unnoticed by the cases themselves.

import { describe, expect, it } from 'vitest';

import { AREAS, casesOf } from './cases.mjs';
import { bufferingCanTell, printsDocument } from './ways.mjs';

const cases = (await Promise.all(AREAS.map(casesOf))).flat();

describe('a document', () => {
  it.each([
    [['job.mld', '--checkpoint'], true],
    [['--checkpoint', 'job.mld'], true],
    [['report.md'], true],
    [['run', 'job'], true],
    [['-e', 'show 1'], true],
    [['run', 'job.dot'], false],
    [['validate', 'job.mld'], false],
    [['journal', 'list', '--json'], false],
  ])('of %j: %s', (argv, expected) => {
    expect(printsDocument({ argv })).toBe(expected);
  });
});

describe('the buffered way', () => {
  const plain = cases.find(({ area, name }) => `${area}/${name}` === 'values/acc-array-index');
  if (plain === undefined) throw new Error('the case is gone');
  const whole = { text: 'one\n', endedInOrder: true };

  it('can tell nothing where no document was printed, or one was printed whole', async () => {
    expect(await bufferingCanTell(plain, [])).toBe(false);
    expect(await bufferingCanTell(plain, [whole, whole])).toBe(false);
  });

  it('can tell whether a document that was cut short is printed', async () => {
    expect(await bufferingCanTell(plain, [whole, { text: 'one\n', endedInOrder: false }])).toBe(true);
  });

  it('can tell something about streams', async () => {
    const aboutStreams = { ...plain, steps: [{ argv: ['job.mld'], write: { 'job.mld': 'output "x" to stdout' } }] };
    expect(await bufferingCanTell(aboutStreams, [whole])).toBe(true);
    const chosen = await Promise.all(cases.map((theCase) => bufferingCanTell(theCase, [whole])));
    expect(chosen.filter(Boolean).length).toBeGreaterThan(10);
  });
});
