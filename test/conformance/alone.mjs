// Cases whose outcome depends on how fast the machine is. They run one at a time, and again when one fails on a busy machine.

import { spawnSync } from 'node:child_process';
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

/** How often a case is run at most. */
const TRIES_MAX = 4;

/** How long Node may take to start, in milliseconds, on a machine whose other work leaves the cases enough time. */
const START_MS_MAX = 150;

/**
 * As `runCase`, with further chances on a machine that is too busy to tell. `report` gets a line that says so.
 *
 * @param {(line: string) => void} report
 * @returns {Promise<string[]>}
 */
export async function runCaseAlone(theCase, options, report) {
  for (let tries = 1; ; tries++) {
    const complaints = await runCase(theCase, options);
    const reason = complaints.length === 0 || tries === TRIES_MAX ? undefined : whyBusy();
    if (reason === undefined) return complaints;
    report(`${theCase.area}/${theCase.name} failed ${reason} and is run once more: ${complaints.join('; ')}`);
  }
}

/** Work of other containers is no part of the load that this one sees, but slows the start of a process all the same. */
function whyBusy() {
  const load = loadavg()[0];
  if (load > availableParallelism()) return `at a load of ${load.toFixed(1)}`;
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  const ms = performance.now() - started;
  return ms > START_MS_MAX ? `where Node takes ${Math.round(ms)} ms to start` : undefined;
}
