// Finds the cases and describes a case.json. A case is data: adding one needs no code here.

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CONFORMANCE = fileURLToPath(new URL('.', import.meta.url));
export const AREAS = ['values', 'control', 'world', 'instrumentation', 'checkpoint', 'graph', 'calls', 'js'];

/**
 * @typedef {object} Step
 * @property {string[]} argv
 * @property {Record<string, string>} [env]
 * @property {string} [stdin]
 * @property {Record<string, string | object | null>} [write]
 * @property {string} [shell]
 * @property {number} [killAfterCalls]
 * @property {string[]} [calls]
 * @property {string[]} [callsInOrder]
 * @property {string[]} [callsSubsequence]
 * @property {number} [callCount]
 * @property {number} [callCountAtMost]
 * @property {string[]} [remove]
 * @property {number | number[]} [exit]
 * @property {string | { file: string }} [stdout]
 * @property {string[]} [stdoutContains]
 * @property {string[]} [stderrContains]
 * @property {string[]} [stdoutMatches]
 * @property {string[]} [stderrMatches]
 * @property {string[]} [stdoutLacks]
 * @property {string[]} [stderrLacks]
 * @property {unknown} [stdoutJson]
 * @property {[number, number]} [elapsedMs]
 * @property {Record<string, string | null>} [files]
 * @property {{ events?: object[], never?: object[], counts?: [object, unknown][] }} [journal]
 * @property {object} [ledger]
 * @property {object} [provider]
 * @property {object} [checkpoint]
 * @property {object} [killAfter]
 * @property {number} [killDelayMs]
 * @property {string} [signal]
 *
 * @typedef {{ area: string, name: string, folder: string, about: string, needs: string[], stubs: boolean, agentsWait: boolean, provider?: object, steps: Step[] }} Case
 */

/** The cases of one area, in the order of their names. @returns {Promise<Case[]>} */
export async function casesOf(area) {
  const root = join(CONFORMANCE, area);
  const names = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const folder = join(root, name);
      const { about, needs = [], stubs = false, provider, steps } = JSON.parse(await readFile(join(folder, 'case.json'), 'utf8'));
      return { area, name, folder, about, needs, stubs, agentsWait: await agentsWait(folder), provider, steps };
    }),
  );
}

/** True when an agent of the case waits before it answers. Its `answers.json` says so, which few cases have. @returns {Promise<boolean>} */
async function agentsWait(folder) {
  const file = join(folder, 'answers.json');
  if (!existsSync(file)) return false;
  const { rules = [] } = JSON.parse(await readFile(file, 'utf8'));
  return rules.some(({ ms }) => ms !== undefined);
}

/**
 * Lists the known failures, by `area/name`. `notYet` waits for a feature, by area (`*`: the whole area); `disagreements` are cases that we believe contradict the reference.
 * @returns {Promise<{ notYet: Record<string, string[]>, disagreements: Record<string, string> }>}
 */
export async function expectedFailures() {
  return JSON.parse(await readFile(join(CONFORMANCE, 'expected-failures.json'), 'utf8'));
}

/** Returns the reason for which this case may fail, or undefined when it must pass. */
export function excuseFor({ notYet, disagreements }, { area, name }) {
  const names = notYet[area] ?? [];
  if (names.includes('*') || names.includes(name)) return 'not supported yet';
  return disagreements[`${area}/${name}`];
}
