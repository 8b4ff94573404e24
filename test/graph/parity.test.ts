/** What any runner of such pipelines has to do: one test each. Reference 16. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Handler } from '../../src/graph/handlers/handler.js';
import { graphAttribute, modelSettingsOf } from '../../src/graph/model.js';
import { outcomeOf } from '../../src/graph/outcome.js';
import { preparePipeline } from '../../src/graph/prepare.js';
import { finishedNodes, pipeline, workshop, type PipelineRun, type Workshop } from '../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

function runOf(text: string, options: Parameters<Workshop['run']>[0] = {}): Promise<PipelineRun> {
  place = workshop(text);
  return place.run(options);
}
const walked = ({ checkpoint }: PipelineRun): readonly string[] => checkpoint.node_history.map(({ node_id: id }) => id);
const tool = (command: string, more = ''): string => `[shape=parallelogram, tool_command="${command}"${more === '' ? '' : `, ${more}`}]`;
const quick = 'retry_delay="1ms", retry_jitter=false';

describe('text', () => {
  it('gives goal, label and attributes over several lines', () => {
    const graph = preparePipeline(pipeline('a [\n  prompt="one",\n  label="A"\n]\nstart -> a -> exit', 'graph [goal="G", label="L"]'));
    expect([graphAttribute(graph, 'goal'), graphAttribute(graph, 'label')]).toEqual(['G', 'L']);
  });
  it.each([
    ['a missing entry', 'digraph g { exit [shape=Msquare] a; a -> exit }', 'start_node'],
    ['a missing exit', 'digraph g { start [shape=Mdiamond] a; start -> a }', 'terminal_node'],
    ['an orphan', pipeline('a; b; start -> a -> exit'), 'reachability'],
  ])('%s is refused, and nothing begins', async (_, text, rule) => {
    const { report, findings, events } = await runOf(text);
    expect(report.status).toBe('failed');
    expect(findings).toContain(rule);
    expect(events).toEqual([]);
  });
  it('expands $goal', async () => {
    const run = await runOf(pipeline('a [prompt="Do: $goal"]\nstart -> a -> exit', 'goal="it"'), { runDirectory: 'run' });
    expect(run.report.status).toBe('completed');
    expect(place?.read('run/a/prompt.md')).toBe('Do: it');
  });
  it('applies a stylesheet by shape', () => {
    const graph = preparePipeline(pipeline('a; start -> a -> exit', 'model_stylesheet="box { llm_model: claude-x }"'));
    expect(modelSettingsOf(graph, graph.nodes.get('a') as never)).toMatchObject({ model: 'claude-x', provider: 'anthropic' });
  });
});

describe('the walk', () => {
  it('runs three stages in a line to the end', async () => {
    const run = await runOf(pipeline('a; b; c; start -> a -> b -> c -> exit'));
    expect(run.report.status).toBe('completed');
    expect(walked(run)).toEqual(['start', 'a', 'b', 'c', 'exit']);
  });
  it.each([
    ['true', ['start', 'probe', 'yes', 'exit']],
    ['false', ['start', 'probe', 'no', 'exit']],
  ])('branches by outcome: %s', async (command, path) => {
    const text = pipeline(
      `probe ${tool(command)}; yes; no; start -> probe; probe -> yes [condition="outcome=success"]; probe -> no [condition="outcome=fail"]; yes -> exit; no -> exit`,
    );
    expect(walked(await runOf(text))).toEqual(path);
  });
  it('retries with max_retries=2', async () => {
    const run = await runOf(pipeline(`a ${tool('test $MLLD_ATTEMPT -eq 3', `max_retries=2, ${quick}`)}; start -> a -> exit`));
    expect(run.checkpoint.node_history[1]).toMatchObject({ node_id: 'a', outcome: 'success', attempts: 3 });
  });
  it('lets a condition beat weight, weight decide, and the smallest id break ties', async () => {
    const text = pipeline(
      `a; b; c; d; e; start -> a; a -> b [condition="outcome=success"]; a -> c [weight=9]
       b -> d [weight=1]; b -> c; d -> e; d -> exit; e -> exit; c -> exit`,
    );
    expect(walked(await runOf(text))).toEqual(['start', 'a', 'b', 'd', 'e', 'exit']);
  });
  it('walks more than ten nodes', async () => {
    const ids = Array.from({ length: 15 }, (_, i) => `n${i}`);
    const run = await runOf(pipeline(`${ids.join('; ')}; start -> ${ids.join(' -> ')} -> exit`));
    expect(walked(run)).toHaveLength(17);
  });
  it('fails as a whole at the limit of steps', async () => {
    const { report } = await runOf(pipeline('a; b; start -> a -> b -> a; b -> exit [condition="context.x=y"]', 'max_steps=5'));
    expect(report).toMatchObject({ status: 'failed', error: { code: 'PIPELINE_LIMIT' } });
  });
});

describe('goal gates', () => {
  const gated = (command: string): string =>
    pipeline(`g ${tool(command, 'goal_gate=true')}; start -> g; g -> exit [condition="outcome=fail"]; g -> exit`);
  it('blocks the exit while a gate is unmet', async () => {
    const { report, checkpoint } = await runOf(gated('false'));
    expect(report).toMatchObject({ status: 'failed', error: { message: 'goal gate not satisfied: g' } });
    expect(checkpoint.goal_gate_status).toEqual({ g: 'unsatisfied' });
  });
  it('lets through when it is met', async () => {
    const { report, checkpoint } = await runOf(gated('true'));
    expect(report.status).toBe('completed');
    expect(checkpoint.goal_gate_status).toEqual({ g: 'satisfied' });
  });
});

describe('people', () => {
  const asking = pipeline(
    'ask [shape=hexagon, label="Ready?"]; go; stay; start -> ask; ask -> stay [label="[S] Stay"]; ask -> go [label="[G] Go"]; go -> exit; stay -> exit',
  );
  it.each([
    ['G', 'go'],
    ['stay', 'stay'],
  ])('routes by the choice %s', async (answer, target) => {
    const { callbackInterviewer } = await import('../../src/graph/people/interviewer.js');
    const run = await runOf(asking, { people: callbackInterviewer(async ({ text }) => (text === 'Ready?' ? answer : undefined)) });
    expect(walked(run)).toContain(target);
    expect(run.events.find(({ type }) => type === 'question.answered')).toMatchObject({ by: 'callback' });
  });
});

describe('state', () => {
  it('hands context updates to the next node', async () => {
    const seen: unknown[] = [];
    const handlers = new Map<string, Handler>([
      ['give', { handle: async () => outcomeOf('success', { context_updates: { gift: { a: 1 } } }) }],
      ['take', { handle: async ({ context }) => (seen.push(context['gift']), outcomeOf('success')) }],
    ]);
    await runOf(pipeline('a [type=give]; b [type=take]; start -> a -> b -> exit'), { handlers });
    expect(seen).toEqual([{ a: 1 }]);
  });
  it('fans out and in, with branches apart', async () => {
    const run = await runOf(
      pipeline('fan [shape=component]; a; b; m [shape=tripleoctagon]; start -> fan; fan -> a -> m; fan -> b -> m; m -> exit'),
    );
    expect(walked(run)).toEqual(['start', 'fan', 'm', 'exit']);
    expect(finishedNodes(run.events)).toEqual(expect.arrayContaining(['a:success', 'b:success']));
    expect(run.checkpoint.context).toMatchObject({ 'parallel.success_count': 2, 'parallel.fan_in.best_id': 'a' });
  });
  it('asks a custom handler, and wants a report of one that says nothing', async () => {
    const silent = new Map<string, Handler>([['mute', { handle: async () => undefined }]]);
    const text = (more: string): string => pipeline(`a [type=mute${more}]; start -> a -> exit`);
    expect((await runOf(text(''), { handlers: silent })).report.status).toBe('failed');
    place?.remove();
    expect((await runOf(text(', auto_status=true'), { handlers: silent })).report.status).toBe('completed');
  });
  it('takes what a handler throws for a failure of its stage', async () => {
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
