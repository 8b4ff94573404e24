/** The state of a pipeline is a fold: any prefix has a checkpoint, and two halves give what the whole gives. */
import { afterEach, expect, it } from 'vitest';
import type { JournalEvent } from '../../../journal/event.js';
import { runIdAt, workflowOf } from '../../../journal/ids.js';
import { checkpointOf } from '../../../replay/pipeline/checkpoint-view.js';
import { pipelineState, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const PLACE = { ref: { workflow: workflowOf('p.dot'), run: runIdAt(0, 'aaaa') }, position: { offset: 0, bytes: 0 } };
const folded = (events: readonly JournalEvent[], from: PipelineState = pipelineState.initial()): PipelineState =>
  structuredClone(events).reduce((state, event) => pipelineState.apply(state, event, PLACE), from);

let place: Workshop | undefined;
afterEach(() => place?.remove());

const BUSY = pipeline(
  `plan [prompt="x", max_retries=1]
   flip [shape=parallelogram, tool_command="echo $MLLD_VISIT; test $MLLD_VISIT -ge 1", goal_gate=true, retry_target=plan]
   fan [shape=component]; a [prompt="a"]; b [shape=parallelogram, tool_command="true", max_retries=1]; meet [shape=tripleoctagon]
   ask [shape=hexagon]; look [shape=diamond]
   start -> plan -> flip; flip -> fan [condition="outcome=fail"]; flip -> fan
   fan -> a -> meet; fan -> b -> meet; meet -> ask; ask -> look [label="Go"]; ask -> exit [label="No"]; look -> exit`,
  'goal="Every kind of event"',
);

it('has a checkpoint after every event, and folds in two parts to the same', async () => {
  place = workshop(BUSY);
  const { events, report } = await place.run();
  expect(report.status).toBe('completed');
  const whole = checkpointOf(folded(events));
  for (let cut = 0; cut <= events.length; cut++) {
    const earlier = folded(events.slice(0, cut));
    expect(() => JSON.stringify(checkpointOf(earlier))).not.toThrow();
    expect(checkpointOf(folded(events.slice(cut), earlier))).toEqual(whole);
  }
  expect(whole.node_history.map(({ node_id: id }) => id)).toEqual([
    'start',
    'plan',
    'flip',
    'fan',
    'meet',
    'ask',
    'look',
    'plan',
    'flip',
    'fan',
    'meet',
    'ask',
    'look',
    'exit',
  ]);
});

it('never counts a node that has not finished', async () => {
  place = workshop(BUSY);
  const { events } = await place.run();
  for (let cut = 0; cut <= events.length; cut++) {
    const prefix = events.slice(0, cut);
    const finished = prefix.filter((event) => event.type === 'node.finished' && event.branch === undefined);
    expect(checkpointOf(folded(prefix)).node_history).toHaveLength(finished.length);
  }
});

it('writes the file that it folds', async () => {
  place = workshop(BUSY);
  const { checkpoint } = await place.run({ runDirectory: 'run' });
  expect(JSON.parse(place.read('run/checkpoint.json'))).toMatchObject({
    node_history: JSON.parse(JSON.stringify(checkpoint.node_history)) as unknown,
    context: JSON.parse(JSON.stringify(checkpoint.context)) as unknown,
    goal_gate_status: { flip: 'satisfied' },
  });
});

it.each([
  ['full', 'full'],
  ['bogus', 'compact'],
  ['', 'compact'],
])('a graph whose fidelity is %j has the default %s', async (written, told) => {
  place = workshop(pipeline('a [prompt="one"]; start -> a -> exit', `default_fidelity="${written}"`));
  const { checkpoint } = await place.run();
  expect(checkpoint.fidelity_state).toMatchObject({ default: told, last: { mode: told } });
});

it('hands a reply that was durable when its stage was cut off to the visit that runs the stage again', () => {
  const fan = (visit: number, more: object = {}): object => ({
    type: 'node.started',
    op: `main/fan#${visit}`,
    node: 'fan',
    visit,
    ...more,
  });
  const b = (op: string, visit: number): object => ({
    type: 'node.started',
    op: `${op}/b#${visit}`,
    node: 'b',
    visit,
    branch: { of: 'fan', id: 'b', index: 1 },
  });
  const reply = { type: 'call.completed', op: 'main/fan#0[1]/b#0/try#1/model#0', key: 'sha256:k', result: { inline: 'paid for' } };
  const started = { type: 'run.started', payload: {}, flags: {}, pipeline: 'g' };
  const outcome = { status: 'fail', preferred_label: '', suggested_next_ids: [], context_updates: {}, notes: '', failure_reason: 'late' };
  const failed = { type: 'node.finished', op: 'main/fan#0', node: 'fan', visit: 0, status: 'fail', outcome, attempts: 1, elapsedMs: 1 };
  const retried = {
    type: 'retry.scheduled',
    op: 'main/fan#0',
    node: 'fan',
    visit: 0,
    attempt: 1,
    delayMs: 1,
    reason: 'late',
    cause: 'error',
  };
  const resumed = { ...started, flags: { resume: '' }, resume: { run: 'r', seq: 4 }, enterAt: 'fan' };
  const keysAfter = (facts: readonly object[]): readonly string[] => {
    const events = facts.map((fact, seq) => ({ v: 1, seq, ts: '2026-04-12T08:15:02.114Z', hash: '', ...fact }) as unknown as JournalEvent);
    return [...folded(events).received].map(([op, { reply: key }]) => `${op} ${key}`);
  };
  const begun = [started, fan(0), b('main/fan#0[1]', 0), reply];
  expect(keysAfter([...begun, retried])).toEqual(['main/fan#0[1]/b#1/try#1/model#0 sha256:k']);
  expect(keysAfter([...begun, failed, resumed, fan(1, { continues: 0 })])).toEqual(['main/fan#1[1]/b#1/try#1/model#0 sha256:k']);
  expect(keysAfter([...begun, { ...failed, status: 'success', outcome: { ...outcome, status: 'success' } }])).toEqual([]);
});
