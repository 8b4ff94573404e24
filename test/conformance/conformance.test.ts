// Every conformance case as one test. `expected-failures.json` is held in both directions: a case listed there must still fail.

import { describe, expect, it } from 'vitest';

import { AREAS, casesOf, excuseFor, expectedFailures } from './cases.mjs';
import { missingPrograms, runCase } from './run-case.mjs';

/** Both ways together. */
const CASE_MS_MAX = 180_000;

const expected = await expectedFailures();

for (const area of AREAS) {
  const cases = await casesOf(area);
  describe.concurrent(area, () => {
    for (const theCase of cases) {
      const excuse = excuseFor(expected, theCase);
      const title = `${excuse === undefined ? '' : 'must still fail: '}${theCase.name}: ${theCase.about}`;
      it.skipIf(missingPrograms(theCase).length > 0)(title, { timeout: CASE_MS_MAX }, async () => {
        const complaints = await runCase(theCase);
        if (excuse === undefined) expect(complaints).toEqual([]);
        else expect(complaints, `passes now; take it out of expected-failures.json (${excuse})`).not.toEqual([]);
      });
    }
  });
}
