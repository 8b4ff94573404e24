import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { rules } from '../../src/validate/rules.js';

/** Found by those who read and follow files, not by a rule for one script. */
const OTHERS = ['syntax', 'unreadable', 'unresolvable', 'template-parameter', 'missing-need', 'missing-module', 'folder-of-the-project'];

it('has every code in docs/validate.md, in the list that the report has it in', () => {
  const text = readFileSync(new URL('../../docs/validate.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w-]+)` +\| `(\w+)` /gm)].map(([, code, list]) => `${code} ${list}`);
  const ofRules = rules.map(({ code, list }) => `${code} ${list}`);
  expect(rows.filter((row) => !OTHERS.includes(row.split(' ')[0] as string)).toSorted()).toEqual(ofRules.toSorted());
  expect(rows.map((row) => row.split(' ')[0])).toEqual(expect.arrayContaining(OTHERS));
});
