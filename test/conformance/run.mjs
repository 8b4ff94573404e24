#!/usr/bin/env node
// node test/conformance/run.mjs [area] [case-glob] [--failures] [--json] [--streamed]
//
// The quick look while working: counts per area, failing cases with a short difference, and `N passed, M failed` as the last line.
//   --failures  print the names of failing cases only
//   --streamed  run every case one way only, not with MLLD_NO_STREAM as well: half the time
//   --json      print [{area, name, outcome, complaints}] instead, outcome being passed, failed or skipped

import { parseArgs } from 'node:util';

import { dependsOnTime, runCaseAlone } from './alone.mjs';
import { AREAS, casesOf, excuseFor, expectedFailures } from './cases.mjs';
import { missingPrograms, runCase } from './run-case.mjs';

const CASES_AT_ONCE = 8;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    failures: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    streamed: { type: 'boolean', default: false },
  },
});
const [area, glob = '*'] = positionals;
if (area !== undefined && !AREAS.includes(area)) {
  console.error(`no area "${area}"; there are ${AREAS.join(', ')}`);
  process.exit(2);
}

const cases = (await Promise.all((area ? [area] : AREAS).map(casesOf))).flat().filter(({ name }) => nameMatches(glob, name));
const results = [
  ...(await mapAtOnce(
    cases.filter((theCase) => !dependsOnTime(theCase)),
    CASES_AT_ONCE,
    (theCase) => judge(theCase, async (...given) => ({ complaints: await runCase(...given) })),
  )),
  ...(await mapAtOnce(cases.filter(dependsOnTime), 1, (theCase) => judge(theCase, runCaseAlone))),
];

if (options.json) {
  console.log(JSON.stringify(results, null, 1));
} else {
  await report();
}
process.exitCode = results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;

/** `*` stands for any run of characters. */
function nameMatches(glob, name) {
  const parts = glob.split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}

async function judge(theCase, run) {
  const { area, name } = theCase;
  if (missingPrograms(theCase).length > 0) return { area, name, outcome: 'skipped', complaints: [] };
  const ran = run(theCase, { ways: options.streamed ? 'streamed' : 'both' }, console.error);
  const { complaints, undecided } = await ran.catch((error) => ({ complaints: [`the runner failed: ${error.stack}`] }));
  const outcome = complaints.length === 0 ? 'passed' : undecided === undefined ? 'failed' : 'skipped';
  return { area, name, outcome, complaints };
}

async function report() {
  const expected = await expectedFailures();
  for (const failed of results.filter(({ outcome }) => outcome === 'failed')) {
    const excuse = excuseFor(expected, failed);
    console.log(`✗ ${failed.area}/${failed.name}${excuse ? ` [expected: ${excuse}]` : ''}`);
    if (options.failures) continue;
    for (const complaint of failed.complaints) console.log(complaint.replace(/^/gm, '    '));
  }
  for (const name of AREAS) {
    const ofArea = results.filter((result) => result.area === name);
    if (ofArea.length > 0) console.log(`${name}: ${counts(ofArea)}`);
  }
  console.log(counts(results));
}

function counts(list) {
  const count = (wanted) => list.filter(({ outcome }) => outcome === wanted).length;
  const skipped = count('skipped');
  return `${count('passed')} passed, ${count('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

async function mapAtOnce(items, width, act) {
  const results = new Array(items.length);
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await act(items[index]);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
