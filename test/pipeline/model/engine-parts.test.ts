/** The small rules of the engine, by table. */
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../../grammar/parse-dot.js';
import { holds } from '../../../src/pipeline/model/condition.js';
import { allowedUpdates } from '../../../src/pipeline/model/context-keys.js';
import { acceleratorOf, choiceFor, normaliseLabel } from '../../../src/pipeline/model/labels.js';
import { outcomeOf, StageError } from '../../../src/pipeline/model/outcome.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { compilePipeline } from '../../../src/pipeline/model/compiled-pipeline.js';
import { renderPreamble } from '../../../src/pipeline/stage/preamble.js';
import { retryScheduleFor, type RetrySettings } from '../../../src/pipeline/model/retry-policy.js';
import { parseStatus, renderStatus } from '../../../src/pipeline/stage/status-file.js';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { addToHistory, note } from '../../../replay/pipeline/walk.js';
import { pipeline } from '../../support/pipeline-run.js';

describe('labels', () => {
  it.each([
    ['[Y] Yes, sail', 'yes, sail', 'Y'],
    ['y) Yes', 'yes', 'Y'],
    ['7 - Seventh', 'seventh', '7'],
    ['[OK7]Fine', 'fine', 'OK7'],
    ['Go - now', 'go - now', 'G'],
    ['A)mber', 'a)mber', 'A'],
    ['[Y]', '[y]', '['],
    ['  éclair ', 'éclair', 'É'],
    ['', '', ''],
  ])('of %j: %j, key %j', (label, normalised, key) => {
    expect(normaliseLabel(label)).toBe(normalised);
    expect(acceleratorOf(label)).toBe(key);
  });

  const choices = [
    { key: 'S', label: '[S] Keep shut', target: 'o' },
    { key: 'O', label: '[O] Open it', target: 'open' },
  ];
  it.each([
    ['o', 'open'],
    ['[o] OPEN IT', 'open'],
    ['keep shut', 'o'],
    ['OPEN', 'open'],
    ['maybe', undefined],
    ['', undefined],
  ])('the answer %j means %s', (answer, target) => expect(choiceFor(answer, choices)?.target).toBe(target));
});

describe('conditions', () => {
  const facts = {
    routing: { status: 'success', preferred_label: 'Fix' } as const,
    context: { 'context.a': 'own', a: 'other', n: 7, yes: true, none: null, list: [1, 'b'], 'deep.er': 3 },
  };
  it.each([
    ['outcome=success && preferred_label=Fix', true],
    ['preferred_label=fix', false],
    ['context.a=own', true],
    ['context.n=7', true],
    ['context.n=07', false],
    ['context.yes=true', true],
    ['context.none=""', true],
    ['context.missing=""', true],
    ['context.missing!=x', true],
    ['context.missing!=""', false],
    ['context.deep.er=3', true],
    ['context.deep=3', false],
    ['context.list="[1,\\"b\\"]"', true],
    ['context.toString=""', true],
  ])('%s is %s', (condition, expected) => expect(holds(parseCondition(condition), facts)).toBe(expected));
});

describe('retries', () => {
  const none: RetrySettings = {
    maxRetries: undefined,
    policy: undefined,
    defaultMaxRetries: undefined,
    defaultPolicy: undefined,
    delayMs: undefined,
    factor: undefined,
    maxDelayMs: undefined,
    jitter: undefined,
  };
  it.each<[string, Partial<RetrySettings>, number]>([
    ['nothing', {}, 0],
    ['the node', { maxRetries: 3, policy: 'linear', defaultMaxRetries: 7 }, 3],
    ['its policy', { policy: 'linear', defaultMaxRetries: 7 }, 2],
    ['the graph', { defaultMaxRetries: 7, defaultPolicy: 'patient' }, 7],
    ['the policy of the graph', { defaultPolicy: 'patient' }, 2],
    ['an explicit none', { maxRetries: 0, defaultMaxRetries: 7 }, 0],
  ])('the budget comes from %s', (_, settings, budget) => expect(retryScheduleFor({ ...none, ...settings }).budget).toBe(budget));

  it.each<[string, Partial<RetrySettings>, readonly number[]]>([
    ['by default', { jitter: false }, [200, 400, 800]],
    ['up to a limit', { jitter: false, delayMs: 2, factor: 3, maxDelayMs: 10 }, [2, 6, 10]],
    ['of a preset', { jitter: false, policy: 'linear' }, [500, 500, 500]],
    ['with jitter half as much again at most', {}, [299, 598, 1196]],
  ])('the delays %s', (_, settings, delays) => {
    const plan = retryScheduleFor({ ...none, ...settings });
    expect([1, 2, 3].map((n) => plan.delayMs(n, () => 0.995))).toEqual(delays);
  });
});

describe('the status file', () => {
  it.each([
    ['outcome: success', /not JSON/],
    ['["success"]', /not an object/],
    ['{"notes":"x"}', /no "outcome"/],
    ['{"outcome":"great"}', /has to be one of/],
    ['{"outcome":"skipped"}', /has to be one of/],
    ['{"outcome":"success","preferred_label":7}', /preferred_label/],
    ['{"outcome":"success","suggested_next_ids":"b"}', /suggested_next_ids/],
    ['{"outcome":"success","context_updates":[1]}', /context_updates/],
  ])('%s is a transient error', (text, reason) => {
    const parse = (): unknown => parseStatus(text);
    expect(parse).toThrow(reason);
    expect(parse).toThrow(StageError);
  });
  it('is read back as it was written', () => {
    const outcome = outcomeOf('retry', { notes: 'n', context_updates: { k: [1] }, failure_reason: 'r', suggested_next_ids: ['a'] });
    expect(parseStatus(renderStatus(outcome))).toEqual(outcome);
  });
});

it('drops updates to keys of the engine, and says so', () => {
  const dropped: string[] = [];
  const updates = JSON.parse('{"outcome":1,"graph.goal":1,"internal.x":1,"current_node":1,"__proto__":{"a":1},"mine":1}') as Record<
    string,
    number
  >;
  expect(allowedUpdates(updates, (key) => dropped.push(key))).toEqual({ mine: 1 });
  expect(dropped).toEqual(['outcome', 'graph.goal', 'internal.x', 'current_node', '__proto__']);
});

describe('where branches meet', () => {
  it.each([
    ['at their fan-in', 'fan [shape=component]; a; b; m [shape=tripleoctagon]; start -> fan; fan -> a -> m; fan -> b -> m; m -> exit', 'm'],
    ['at the exit without one', 'fan [shape=component]; a; b; start -> fan; fan -> a -> exit; fan -> b -> exit', 'exit'],
    [
      'behind a nested parallel node',
      'fan [shape=component]; a; in [shape=component]; b; n [shape=tripleoctagon]; m [shape=tripleoctagon]; start -> fan; fan -> a -> m; fan -> in -> b -> n -> m; m -> exit',
      'm',
    ],
    [
      'at the exit that a nested one reaches',
      'fan [shape=component]; in [shape=component]; a; b; start -> fan; fan -> in; fan -> a; in -> b -> exit; a -> b',
      'exit',
    ],
    [
      'at the fan-in, though a branch walks back to the node around it',
      'fan [shape=component]; in [shape=component]; b; m [shape=tripleoctagon]; n [shape=tripleoctagon]; start -> fan; fan -> in; fan -> m; in -> b -> n; n -> fan; m -> exit',
      'm',
    ],
    ['nowhere', 'fan [shape=component]; a; start -> fan; fan -> a; start -> exit', undefined],
  ])('%s', (_, body, join) => expect(compilePipeline(preparePipeline(pipeline(body)), new Set()).joinOf('fan')).toBe(join));
});

describe('the carry-over text', () => {
  const state = pipelineState.initial();
  const context = { 'graph.goal': 'x', 'internal.y': 1, long: 'y'.repeat(500), found: 'an anchor' };
  Object.assign(state.main.context, context);
  for (let i = 0; i < 500; i++)
    addToHistory(state.main, { node_id: `stage${i}`, outcome: i % 7 === 0 ? 'fail' : 'success', visit: 0, attempts: 1 }, 0);
  const past = { goal: 'Map the wreck', runId: 'R1', walks: [state.main] };
  it.each([
    ['truncate', 4_000],
    ['compact', 4_000],
    ['summary:low', 2_400],
    ['summary:medium', 6_000],
    ['summary:high', 12_000],
  ] as const)('%s keeps to its budget and tells the goal', (mode, budget) => {
    const text = renderPreamble(mode, past);
    expect(text.length).toBeLessThanOrEqual(budget);
    expect(text).toContain('Map the wreck');
    expect(text).toBe(renderPreamble(mode, past));
    expect(text).not.toContain('internal.y');
  });
  it('shows values of the context at the length that the mode has room for', () => {
    const { main } = pipelineState.initial();
    main.context['report'] = 'z'.repeat(1_000);
    const told = (mode: 'compact' | 'summary:medium' | 'summary:high'): number =>
      /z+/.exec(renderPreamble(mode, { ...past, walks: [main] }))?.[0].length ?? 0;
    expect([told('compact'), told('summary:medium'), told('summary:high')]).toEqual([199, 399, 1_000]);
  });
  it.each(['truncate', 'compact', 'summary:low', 'summary:medium', 'summary:high'] as const)(
    '%s tells the beginning of a long goal',
    (mode) => {
      const text = renderPreamble(mode, { ...past, goal: 'g'.repeat(20_000) });
      expect(text).toMatch(/^Goal: g{500}/);
      expect(text.split('\n').length).toBeGreaterThan(1);
    },
  );
  it('shows every key of the context in the richest mode, and cuts long values for that', () => {
    const { main } = pipelineState.initial();
    main.context['early'] = 'an anchor';
    for (const key of ['a', 'b', 'c']) main.context[key] = key.repeat(7_000);
    const text = renderPreamble('summary:high', { ...past, walks: [main] });
    expect(text).toMatch(/- c: c{1999}…\n- b: b{1999}…\n- a: a{1999}…\n- early: an anchor$/);
  });
  it('lists failures, retries, jumps and answers, newest first', () => {
    const walk = pipelineState.initial().main;
    addToHistory(walk, { node_id: 'probe', outcome: 'fail', visit: 1, attempts: 3, failure_reason: 'no bottom' }, 2);
    addToHistory(walk, { node_id: 'dive', outcome: 'success', visit: 0, attempts: 2 }, 1);
    note(walk, { kind: 'jumped', from: 'exit', to: 'dive' });
    note(walk, { kind: 'answered', node: 'ask', choice: '[O] Open' });
    const lines = renderPreamble('summary:medium', { ...past, walks: [walk] }).split('\n');
    expect(lines.slice(lines.indexOf('Notable:') + 1)).toEqual([
      '- ask was answered: [O] Open',
      '- the walk jumped from exit to dive',
      '- dive needed 2 attempts',
      '- probe failed on visit 2',
    ]);
    expect(renderPreamble('summary:high', { ...past, walks: [walk] })).toContain(
      '2 stages have finished, 1 of them failed, with 3 retries.',
    );
  });
  it('names the run in truncate only', () => {
    expect(renderPreamble('truncate', past)).toContain('R1');
    for (const mode of ['compact', 'summary:low', 'summary:medium', 'summary:high'] as const)
      expect(renderPreamble(mode, past)).not.toContain('R1');
  });
  it('lists the newest stages when not all fit', () => {
    expect(renderPreamble('compact', past)).toContain('stage499');
    expect(renderPreamble('compact', past)).not.toContain('stage0:');
    expect(renderPreamble('compact', past)).toContain('found: an anchor');
  });
});
