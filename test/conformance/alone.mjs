// Cases whose outcome depends on how fast the machine is. They run one at a time, and once more when one fails on a busy machine.

import { availableParallelism, loadavg } from 'node:os';

import { runCase } from './run-case.mjs';

/** A number that need not be exact: how many calls come before a limit, a time-out or a stop is a matter of time. */
const BOUND = /"\$(?:lt|gt|near)"|"maxInFlight"/;

/** Cases whose scripts give an agent a time within which it must at least have begun. */
const LIMITED = new Set(['js/agent-time-limit']);

/** True when a check of the case is about elapsed time, or about how much happened until something else did. @returns {boolean} */
export function dependsOnTime({ area, name, steps }) {
  if (LIMITED.has(`${area}/${name}`)) return true;
  return steps.some(
    ({ elapsedMs, killDelayMs, ledger, provider }) =>
      elapsedMs || killDelayMs || BOUND.test(JSON.stringify([ledger ?? null, provider ?? null])),
  );
}

/**
 * As `runCase`, with a second chance where more is waiting for a processor than there are. `report` gets a line that says so.
 *
 * @param {(line: string) => void} report
 * @returns {Promise<string[]>}
 */
export async function runCaseAlone(theCase, options, report) {
  const complaints = await runCase(theCase, options);
  const load = loadavg()[0];
  if (complaints.length === 0 || load <= availableParallelism()) return complaints;
  report(`${theCase.area}/${theCase.name} failed at a load of ${load.toFixed(1)} and is run once more: ${complaints.join('; ')}`);
  return runCase(theCase, options);
}
