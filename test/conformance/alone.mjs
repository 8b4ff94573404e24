// Cases whose outcome depends on how fast the machine is. They run one at a time, and again when one fails on a busy machine.

import { spawnSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';

import { runCase } from './run-case.mjs';

/** A number that need not be exact: how many calls come before a limit, a time-out or a stop is a matter of time. */
const BOUND = /"\$(?:lt|gt|near)"|"maxInFlight"/;

/** Cases whose scripts give an agent a time within which it must at least have begun. */
const LIMITED = new Set(['js/agent-time-limit']);

/**
 * True when a check of the case is about elapsed time, or about what happened until something else did: an agent that waits gives others
 * the time to begin or to end, and on a busy machine that may be too little. @returns {boolean}
 */
export function dependsOnTime({ area, name, steps, agentsWait }) {
  if (LIMITED.has(`${area}/${name}`)) return true;
  return steps.some(
    ({ elapsedMs, killDelayMs, calls, callsInOrder, callsSubsequence, ledger, provider }) =>
      elapsedMs ||
      killDelayMs ||
      (agentsWait && (calls ?? callsInOrder ?? callsSubsequence)) ||
      BOUND.test(JSON.stringify([ledger ?? null, provider ?? null])),
  );
}

/** How often a case is run at most. */
const TRIES_MAX = 4;

/** How long Node may take to start, in milliseconds, on a machine whose other work leaves the cases enough time. */
const START_MS_MAX = 150;

/**
 * As `runCase`, with further chances on a machine that is too busy to tell. `report` gets a line that says so. `undecided` is the reason
 * where the machine can't start an agent in the time that the case gives it: such a failure says nothing.
 *
 * @param {(line: string) => void} report
 * @returns {Promise<{ complaints: string[], undecided?: string }>}
 */
export async function runCaseAlone(theCase, options, report) {
  const name = `${theCase.area}/${theCase.name}`;
  for (let tries = 1; ; tries++) {
    const complaints = await runCase(theCase, options);
    if (complaints.length === 0) return { complaints };
    const [load, startMs] = [loadavg()[0], msToStart()];
    const isSlow = startMs > START_MS_MAX;
    if (tries === TRIES_MAX)
      return isSlow && LIMITED.has(name) ? { complaints, undecided: `Node takes ${startMs} ms to start` } : { complaints };
    if (!isSlow && load <= availableParallelism()) return { complaints };
    report(
      `${name} failed at a load of ${load.toFixed(1)}, with ${startMs} ms to start Node, and is run once more: ${complaints.join('; ')}`,
    );
  }
}

/** Work of other containers is no part of the load that this one sees, but slows the start of a process all the same. */
function msToStart() {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return Math.round(performance.now() - started);
}
