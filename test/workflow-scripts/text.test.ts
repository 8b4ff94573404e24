/** The text of a script: `meta` without running anything, the body as code, each mistake with its place. workflows-js.md 2 and 13. */
import { expect, it } from 'vitest';

import { MlldError } from '../../src/errors.js';
import { hazardsIn } from '../../src/workflows/text/hazards.js';
import { readWorkflow } from '../../src/workflows/text/read-script.js';

const META = "export const meta = { name: 'x', description: 'y' }\n";

async function mistake(text: string): Promise<string> {
  try {
    await readWorkflow(text, 'x.js');
  } catch (error) {
    if (error instanceof MlldError) return `${error.code} ${error.location?.line}:${error.location?.column}`;
    throw error;
  }
  return 'none';
}

it.each([
  ['return 1', 'WORKFLOW_META_MISSING 1:1'],
  ['', 'WORKFLOW_META_MISSING 1:1'],
  ['export const meta = { name: N }', 'WORKFLOW_META_LITERAL 1:29'],
  ['export const meta = { [k]: 1 }', 'WORKFLOW_META_LITERAL 1:23'],
  ['export const meta = { name: `a${b}` }', 'WORKFLOW_META_LITERAL 1:33'],
  ["export const meta = { name: 'x', description: ' ' }", 'WORKFLOW_META_MEMBER 1:47'],
  ["export const meta = { name: 'x', description: 'y', phases: [{}] }", 'WORKFLOW_META_MEMBER 1:60'],
  ["import x from 'y'", 'WORKFLOW_IMPORT 1:1'],
  [`${META}export const more = 1`, 'WORKFLOW_IMPORT 2:1'],
  [`${META}import x from 'y'`, 'WORKFLOW_IMPORT 2:1'],
  [`${META}const a = ;`, 'WORKFLOW_SYNTAX 2:11'],
  [`${META}const a: string = 1`, 'WORKFLOW_SYNTAX 2:8'],
  [`${META}}); (function () {`, 'WORKFLOW_SYNTAX 2:5'],
  [`${META}with (a) {}`, 'WORKFLOW_SYNTAX 2:1'],
  [`#!/usr/bin/env mlld\r\n// why\r\n${META}await 1; return 2`, 'none'],
])('reads %j as %s', async (text, found) => {
  expect(await mistake(text)).toBe(found);
});

it('reads meta with joined texts and members that nobody knows', async () => {
  const { meta } = await readWorkflow(
    "export const meta = { name: 'a' + 'b', description: `c`, more: [1, -2, null], phases: [{ title: 'P' }] }",
    'x.js',
  );
  expect(meta).toEqual({ name: 'ab', description: 'c', phases: ['P'] });
});

it('replaces import() without moving anything', async () => {
  const { code, importName, text } = await readWorkflow(`${META}const a = import('x') // import('y')`, 'x.js');
  expect(code).toContain(`const a = ${importName}('x') // import('y')`);
  expect(importName).toHaveLength('import'.length);
  expect(code.length - text.length).toBe("(async function () { 'use strict'; \n})".length);
});

it('names each use of clock and chance', async () => {
  const found = hazardsIn(await readWorkflow(`${META}Date.now(); new Date(); new Date(1); Math.random(); Math.max()`, 'x.js'));
  expect(found.map(({ what }) => what)).toEqual(['Date.now()', 'new Date()', 'Math.random()']);
});
