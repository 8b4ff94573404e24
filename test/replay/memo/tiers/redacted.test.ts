/** A redaction leaves no tier of an index behind, because a row holds the beginning of an argument. */
import fs from 'node:fs';
import { expect, it } from 'vitest';
import { projectFolder, runCli } from '../../../support/cli.js';
import { call, finished, runRef, started } from '../../../support/written-runs.js';
import { append, load, openStore, tiersIn } from './support.js';

it('is gone after a redaction, and made again', async () => {
  const root = await projectFolder({ 'job.mld': 'show "nothing"\n' });
  const store = openStore(root);
  await append(store, 1, [
    started(runRef(1)),
    ...call('main/ask#0', 'tide-token-4711'),
    ...call('main/ask#1', 'ebb'),
    ...call('main/ask#2', 'flow'),
    finished(),
  ]);
  await load(store);
  expect(
    tiersIn(root)
      .map((file) => fs.readFileSync(file, 'utf8'))
      .join(),
  ).toContain('tide-token-4711');
  expect(await runCli(['journal', 'redact', 'job', '--match', 'tide-token-4711'], { cwd: root })).toMatchObject({ status: 0 });
  expect(tiersIn(root)).toEqual([]);
  const { memo } = await load(store);
  expect([...memo.entries.values()].flatMap(({ preview }) => preview ?? [])).toEqual(['ebb', 'flow']);
  expect(
    tiersIn(root)
      .map((file) => fs.readFileSync(file, 'utf8'))
      .join(),
  ).not.toContain('tide-token-4711');
});
