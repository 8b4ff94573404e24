// Every conformance case as one test. `expected-failures.json` is held in both directions: a case listed there must still fail.

import { describe, expect, it } from 'vitest';

import { dependsOnTime, runCaseAlone } from './alone.mjs';
import { AREAS, casesOf, excuseFor, expectedFailures } from './cases.mjs';
import { normalise, shortDiff } from './compare.mjs';
import { missingPrograms, runCase } from './run-case.mjs';
import { normaliseDocument } from '../../src/values/show.js';

/** All steps of a case, both ways together. */
const CASE_MS_MAX = 300_000;
const ways = process.env['MLLD_TEST_ALL'] === '1' ? 'both' : 'telling';

/** Blank lines and blanks at line ends are all that the buffered way may change: world.md 3.4. */
function changesOfNormaliser(text: string): string[] {
  const [streamed, buffered] = [normalise(text), normalise(normaliseDocument(text))];
  return streamed === buffered ? [] : [`the document normaliser: ${shortDiff(streamed, buffered)}`];
}

const options = { ways, onDocument: changesOfNormaliser } as const;
const expected = await expectedFailures();

for (const area of AREAS) {
  const cases = await casesOf(area);
  const isAlone = (theCase: (typeof cases)[number]) => dependsOnTime(theCase) && excuseFor(expected, theCase) === undefined;

  describe.concurrent(area, () => {
    for (const theCase of cases.filter((one) => !isAlone(one))) {
      const excuse = excuseFor(expected, theCase);
      const title = `${excuse === undefined ? '' : 'must still fail: '}${theCase.name}: ${theCase.about}`;
      it.skipIf(missingPrograms(theCase).length > 0)(title, { timeout: CASE_MS_MAX }, async () => {
        const complaints = await runCase(theCase, options);
        if (excuse === undefined) expect(complaints).toEqual([]);
        else expect(complaints, `passes now; take it out of expected-failures.json (${excuse})`).not.toEqual([]);
      });
    }
  });

  const alone = cases.filter(isAlone);
  if (alone.length === 0) continue;
  describe.sequential(`${area}, one at a time`, () => {
    for (const theCase of alone) {
      it.skipIf(missingPrograms(theCase).length > 0)(
        `${theCase.name}: ${theCase.about}`,
        { timeout: 2 * CASE_MS_MAX },
        async ({ skip }) => {
          const { complaints, undecided } = await runCaseAlone(theCase, options, (line) => process.stderr.write(`${line}\n`));
          if (undecided !== undefined) skip(`not decided: ${undecided}`);
          expect(complaints).toEqual([]);
        },
      );
    }
  });
}
