/** The page of a workflow script: phases are tracks, calls have their labels, and belong to the function that was called. */
import { beforeAll, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import { openPage } from '../../src/api/reports/page.js';
import { timesByFunction } from '../../viewer/report/model/call-times.js';
import { createModel, detailsOfLines, type Model } from '../../viewer/report/model/page-model.js';
import { NO_FILTER } from '../../viewer/report/model/route.js';
import { countsByPhase } from '../../viewer/report/model/source-counts.js';
import { matching } from '../../viewer/report/model/tree-rows.js';
import { tracksOf } from '../../viewer/report/model/tracks.js';
import { projectFolder, runCli } from '../support/cli.js';

const SCRIPT = `export const meta = { name: 'audit', description: 'looks at berths' };
phase('Look');
const found = await parallel(['north', 'south'].map((berth) => () => agent('look at ' + berth, { label: 'look:' + berth, phase: 'Look' })));
phase('Write');
return await agent('write it up: ' + found.length, { label: 'report', phase: 'Write' });
`;

let model: Model;

beforeAll(async () => {
  const cwd = await projectFolder({ '.claude/workflows/audit.js': SCRIPT, 'mlld-config.json': '{"agent": {"backend": "simulated"}}' });
  await runCli(['run', 'audit'], { cwd });
  const store = openFileStore(cwd);
  const [workflow] = await store.workflows();
  const [run] = await store.runs(workflow!);
  const page = await openPage(store, run!);
  model = createModel(page.data, undefined, detailsOfLines(page.details.map((span) => JSON.stringify(span))));
});

it('has a track for each phase, whose name is no function', () => {
  expect(tracksOf(model).map(({ name, calls }) => [name, calls.length])).toEqual([
    ['Look', 2],
    ['Write', 1],
  ]);
  expect(countsByPhase(model)).toMatchObject([
    { name: 'Look', executed: 2, failed: 0 },
    { name: 'Write', executed: 1, reused: 0 },
  ]);
});

it('shows a call by its label, and finds and measures it by its function', () => {
  expect(model.calls.map((span) => model.titleOf(span)).sort()).toEqual(['look:north', 'look:south', 'report']);
  expect(matching(model, { ...NO_FILTER, fn: 'agent' })).toEqual(model.calls);
  expect(timesByFunction(model).get('agent')?.count).toBe(3);
});
