// Where the cases are and what a case.json holds. A case is data: adding one needs no code here.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CONFORMANCE = fileURLToPath(new URL('.', import.meta.url));
export const AREAS = ['values', 'control', 'world', 'instrumentation', 'checkpoint', 'graph'];

/**
 * @typedef {object} Step
 * @property {string[]} argv
 * @property {Record<string, string>} [env]
 * @property {string} [stdin]
 * @property {number} [exit]
 * @property {string | { file: string }} [stdout]
 * @property {string[]} [stdoutContains]
 * @property {string[]} [stderrContains]
 * @property {Record<string, string | null>} [files]
 * @property {{ events?: object[], never?: object[] }} [journal]
 * @property {object} [checkpoint]
 * @property {object} [killAfter]
 *
 * @typedef {{ area: string, name: string, folder: string, about: string, needs: string[], steps: Step[] }} Case
 */

/** The cases of one area, in the order of their names. @returns {Promise<Case[]>} */
export async function casesOf(area) {
  const root = join(CONFORMANCE, area);
  const names = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const folder = join(root, name);
      const { about, needs = [], steps } = JSON.parse(await readFile(join(folder, 'case.json'), 'utf8'));
      return { area, name, folder, about, needs, steps };
    }),
  );
}

/**
 * What we know to fail, by `area/name`. `notYet` waits for a feature, by area (`*`: the whole area); `disagreements` are cases that we believe contradict the reference.
 * @returns {Promise<{ notYet: Record<string, string[]>, disagreements: Record<string, string> }>}
 */
export async function expectedFailures() {
  return JSON.parse(await readFile(join(CONFORMANCE, 'expected-failures.json'), 'utf8'));
}

/** Why this case may not pass, or undefined when it must. */
export function excuseFor({ notYet, disagreements }, { area, name }) {
  const names = notYet[area] ?? [];
  if (names.includes('*') || names.includes(name)) return 'not supported yet';
  return disagreements[`${area}/${name}`];
}
