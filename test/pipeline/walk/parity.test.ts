/** Every runner of such pipelines has to pass these: a test for each line of the list, by the name of the line. graph-pipelines.md 16. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { graphAttribute, modelSettingsOf, nodeAttribute } from '../../../src/pipeline/model/graph.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { callbackInterviewer } from '../../../src/pipeline/human/interviewer.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { finishedNodes, pipeline, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

function runOf(text: string, options: Parameters<Workshop['run']>[0] = {}): Promise<PipelineRun> {
  place?.remove();
  place = workshop(text);
  return place.run(options);
}
const walked = ({ checkpoint }: PipelineRun): readonly string[] => checkpoint.node_history.map(({ node_id: id }) => id);
const tool = (command: string, more = ''): string => `[shape=parallelogram, tool_command="${command}"${more === '' ? '' : `, ${more}`}]`;
const quick = 'retry_delay="1ms", retry_jitter=false';

async function expectRefused(text: string, rule: string): Promise<void> {
  const { report, findings, events } = await runOf(text);
  expect(report.status).toBe('failed');
  expect(findings).toContain(rule);
  expect(events).toEqual([]);
  expect(existsSync(path.join(place?.folder ?? '', '.mlld'))).toBe(false);
}

const LINEAR = pipeline('a; b; c; start -> a -> b -> c -> exit');
const branching = (command: string): string =>
  pipeline(
    `probe ${tool(command)}; yes; no; start -> probe; probe -> yes [condition="outcome=success"]; probe -> no [condition="outcome=fail"]; yes -> exit; no -> exit`,
  );
const gated = (command: string): string =>
  pipeline(`g ${tool(command, 'goal_gate=true')}; start -> g; g -> exit [condition="outcome=fail"]; g -> exit`);
const ASKING = pipeline(
  'ask [shape=hexagon, label="Ready?"]; go; stay; start -> ask; ask -> stay [label="[S] Stay"]; ask -> go [label="[G] Go"]; go -> exit; stay -> exit',
);

/** The lines of the list, in its order. */
const LINES: { readonly [line: string]: () => Promise<void> } = {
  'linear three-stage run': async () => {
    const run = await runOf(LINEAR);
    expect(run.report.status).toBe('completed');
    expect(walked(run)).toEqual(['start', 'a', 'b', 'c', 'exit']);
  },
  'goal and label extracted': async () => {
    const graph = preparePipeline(pipeline('a; start -> a -> exit', 'graph [goal="G", label="L"]'));
    expect([graphAttribute(graph, 'goal'), graphAttribute(graph, 'label')]).toEqual(['G', 'L']);
  },
  'attributes over several lines': async () => {
    const { nodes } = preparePipeline(pipeline('a [\n  prompt="one",\n  max_retries=2\n]\nstart -> a -> exit'));
    const node = nodes.get('a') as NonNullable<ReturnType<typeof nodes.get>>;
    expect([nodeAttribute(node, 'prompt'), nodeAttribute(node, 'max_retries')]).toEqual(['one', 2]);
  },
  'missing entry refused': () => expectRefused('digraph g { exit [shape=Msquare] a; a -> exit }', 'start_node'),
  'missing exit refused': () => expectRefused('digraph g { start [shape=Mdiamond] a; start -> a }', 'terminal_node'),
  'orphan refused': () => expectRefused(pipeline('a; b; start -> a -> exit'), 'reachability'),
  'linear run end to end': async () => {
    const cwd = await projectFolder({ 'p.dot': LINEAR });
    const { status, stdout } = await callCli(['run', 'p.dot', '--backend', 'simulated', '--run-dir', 'run'], { cwd });
    expect([status, stdout]).toEqual([0, 'g: completed\n']);
    for (const id of ['a', 'b', 'c']) expect(existsSync(path.join(cwd, 'run', id, 'response.md'))).toBe(true);
  },
  'branching by success and fail': async () => {
    expect(walked(await runOf(branching('true')))).toEqual(['start', 'probe', 'yes', 'exit']);
    expect(walked(await runOf(branching('false')))).toEqual(['start', 'probe', 'no', 'exit']);
  },
  'retry after failures with max_retries=2': async () => {
    const attempts = async (succeeding: number): Promise<unknown> =>
      (await runOf(pipeline(`a ${tool(`test $MLLD_ATTEMPT -eq ${succeeding}`, `max_retries=2, ${quick}`)}; start -> a -> exit`))).checkpoint
        .node_history[1];
    expect(await attempts(3)).toMatchObject({ node_id: 'a', outcome: 'success', attempts: 3 });
    expect(await attempts(4)).toMatchObject({ node_id: 'a', outcome: 'fail', attempts: 3 });
  },
  'gate blocks the exit': async () => {
    const { report, checkpoint } = await runOf(gated('false'));
    expect(report).toMatchObject({ status: 'failed', error: { message: 'goal gate not satisfied: g' } });
    expect(checkpoint.goal_gate_status).toEqual({ g: 'unsatisfied' });
  },
  'met gates let through': async () => {
    const { report, checkpoint } = await runOf(gated('true'));
    expect(report.status).toBe('completed');
    expect(checkpoint.goal_gate_status).toEqual({ g: 'satisfied' });
  },
  'human gate routes by choice': async () => {
    for (const [answer, target] of [
      ['G', 'go'],
      ['stay', 'stay'],
    ] as const) {
      const run = await runOf(ASKING, { people: callbackInterviewer(async ({ text }) => (text === 'Ready?' ? answer : undefined)) });
      expect(walked(run)).toEqual(['start', 'ask', target, 'exit']);
      expect(run.events.find(({ type }) => type === 'question.answered')).toMatchObject({ by: 'callback' });
    }
  },
  'condition beats weight': async () => {
    const run = await runOf(pipeline('a; b; c; start -> a; a -> b [condition="outcome=success"]; a -> c [weight=9]; b -> exit; c -> exit'));
    expect(walked(run)).toEqual(['start', 'a', 'b', 'exit']);
  },
  'weight decides among plain edges': async () => {
    const run = await runOf(pipeline('a; b; c; start -> a; a -> b; a -> c [weight=1]; b -> exit; c -> exit'));
    expect(walked(run)).toEqual(['start', 'a', 'c', 'exit']);
  },
  'smallest id decides ties': async () => {
    const run = await runOf(pipeline('a; c; b; start -> a; a -> c; a -> b; b -> exit; c -> exit'));
    expect(walked(run)).toEqual(['start', 'a', 'b', 'exit']);
  },
  'context updates reach the next node': async () => {
    const seen: unknown[] = [];
    const handlers = new Map<string, Handler>([
      ['give', { handle: async () => outcomeOf('success', { context_updates: { gift: { a: 1 } } }) }],
      ['take', { handle: async ({ context }) => (seen.push(context['gift']), outcomeOf('success')) }],
    ]);
    await runOf(pipeline('a [type=give]; b [type=take]; start -> a -> b -> exit'), { handlers });
    expect(seen).toEqual([{ a: 1 }]);
  },
  'checkpoint and resume end like an undisturbed run': async () => {
    const text = pipeline(`a [prompt="one"]; b ${tool('echo deep')}; c [prompt="two"]; start -> a -> b -> c -> exit`, 'goal="a chart"');
    const endOf = ({ checkpoint: { context, node_history, goal_gate_status, next_edge } }: PipelineRun): object => ({
      context,
      node_history,
      goal_gate_status,
      next_edge,
    });
    const undisturbed = endOf(await runOf(text));
    const ending = new AbortController();
    const cut = await runOf(text, {
      signal: ending.signal,
      onEvent: (event) => void (event.type === 'node.finished' && event.node === 'b' && ending.abort()),
    });
    expect(cut.report.status).toBe('interrupted');
    expect(cut.checkpoint.current_node).toBe('b');
    const resumed = await (place as Workshop).run({ resume: '' });
    expect(resumed.report.status).toBe('completed');
    expect(finishedNodes(resumed.events)).toEqual(['c:success', 'exit:success']);
    expect(endOf(resumed)).toEqual(undisturbed);
  },
  'stylesheet by shape': async () => {
    const graph = preparePipeline(pipeline('a; start -> a -> exit', 'model_stylesheet="box { llm_model: claude-x }"'));
    expect(modelSettingsOf(graph, graph.nodes.get('a') as never)).toMatchObject({ model: 'claude-x', provider: 'anthropic' });
    expect(modelSettingsOf(graph, graph.nodes.get('start') as never)).toEqual({ effort: 'high' });
  },
  $goal: async () => {
    const run = await runOf(pipeline('a [prompt="Do: $goal"]\nstart -> a -> exit', 'goal="it"'), { runDirectory: 'run' });
    expect(run.report.status).toBe('completed');
    expect(place?.read('run/a/prompt.md')).toBe('Do: it');
  },
  'fan-out and fan-in': async () => {
    const run = await runOf(
      pipeline('fan [shape=component]; a; b; m [shape=tripleoctagon]; start -> fan; fan -> a -> m; fan -> b -> m; m -> exit'),
    );
    expect(walked(run)).toEqual(['start', 'fan', 'm', 'exit']);
    expect(finishedNodes(run.events)).toEqual(expect.arrayContaining(['a:success', 'b:success']));
    expect(run.checkpoint.context).toMatchObject({ 'parallel.success_count': 2, 'parallel.fan_in.best_id': 'a' });
  },
  'custom handler': async () => {
    const weigh: Handler = { handle: async ({ node }) => outcomeOf('success', { notes: `${node.id} weighs 4` }) };
    const run = await runOf(pipeline('a [type=weigh]; start -> a -> exit'), { handlers: new Map([['weigh', weigh]]) });
    expect(run.findings).toBe('');
    expect(run.events.find((event) => event.type === 'node.finished' && event.node === 'a')).toMatchObject({
      outcome: { notes: 'a weighs 4' },
    });
  },
  'a run of more than ten nodes': async () => {
    const ids = Array.from({ length: 15 }, (_, i) => `n${i}`);
    const run = await runOf(pipeline(`${ids.join('; ')}; start -> ${ids.join(' -> ')} -> exit`));
    expect(walked(run)).toEqual(['start', ...ids, 'exit']);
  },
};

describe('the parity list', () => {
  it.each(Object.entries(LINES))('%s', (_, check) => check());
});

it('runs the smoke graph', async () => {
  const run = await runOf(
    `digraph smoke {
       graph [goal="A card for the harbour master"]
       greet [shape=Mdiamond]
       outline [prompt="Outline: $goal"]
       compose [prompt="Write it", goal_gate=true, retry_target=outline]
       proof [prompt="Read it"]
       done [shape=Msquare]
       greet -> outline -> compose
       compose -> proof [condition="outcome=success"]
       compose -> outline [condition="outcome=fail"]
       proof -> done [condition="outcome=success"]
       proof -> compose [condition="outcome=fail"]
     }`,
    { runDirectory: 'run' },
  );
  expect([run.report.status, run.findings]).toEqual(['completed', '']);
  for (const id of ['outline', 'compose', 'proof']) {
    expect(place?.read(`run/${id}/response.md`)).toBe(`[Simulated] Response for stage: ${id}`);
    expect(JSON.parse(place?.read(`run/${id}/status.json`) ?? '')).toMatchObject({ outcome: 'success' });
    expect(place?.read(`run/${id}/prompt.md`)).not.toBe('');
  }
  expect(run.checkpoint).toMatchObject({ current_node: 'done', goal_gate_status: { compose: 'satisfied' } });
  expect(walked(run)).toEqual(['greet', 'outline', 'compose', 'proof', 'done']);
});

describe('beside the list', () => {
  it('fails as a whole at the limit of steps', async () => {
    const { report } = await runOf(pipeline('a; b; start -> a -> b -> a; b -> exit [condition="context.x=y"]', 'max_steps=5'));
    expect(report).toMatchObject({ status: 'failed', error: { code: 'PIPELINE_LIMIT' } });
  });
  it('wants a report of a custom handler that says nothing', async () => {
    const silent = new Map<string, Handler>([['mute', { handle: async () => undefined }]]);
    const text = (more: string): string => pipeline(`a [type=mute${more}]; start -> a -> exit`);
    expect((await runOf(text(''), { handlers: silent })).report.status).toBe('failed');
    expect((await runOf(text(', auto_status=true'), { handlers: silent })).report.status).toBe('completed');
  });
  it('turns what a handler throws into a failure of its stage', async () => {
    const handlers = new Map<string, Handler>([['burst', { handle: async () => Promise.reject(new Error('it burst')) }]]);
    const run = await runOf(pipeline('a [type=burst]; b; start -> a; a -> b [condition="outcome=fail"]; b -> exit; a -> exit'), {
      handlers,
    });
    expect(run.report.status).toBe('completed');
    expect(run.checkpoint.node_history[1]).toMatchObject({ outcome: 'fail', failure_reason: 'it burst' });
  });
  it('ends a custom handler that does not heed its time', { timeout: 15_000 }, async () => {
    const handlers = new Map<string, Handler>([['deaf', { handle: () => new Promise(() => undefined) }]]);
    const { report } = await runOf(pipeline('a [type=deaf, timeout="20ms"]; start -> a -> exit'), { handlers });
    expect(report).toMatchObject({ status: 'failed', error: { message: 'timed out after 20 ms' } });
  });
});
