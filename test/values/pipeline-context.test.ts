import { describe, expect, it } from 'vitest';
import { pipelineContext, resultOfPipeline } from '../../src/values/kinds/pipeline-context.js';
import { annotate, dataOf, labelsOf } from '../../src/values/value.js';

const source = annotate('tea', { labels: ['pii'] });
const facts = { results: [source, 'one', 'two'], stage: 3, try: 2, repeated: ['b'], ended: [], guards: () => [] };

describe('the context of a pipeline', () => {
  it('is plain data for code and JSON', () => {
    expect(JSON.parse(JSON.stringify(pipelineContext(facts)))).toEqual({
      0: 'tea',
      1: 'one',
      2: 'two',
      '-1': 'two',
      '-2': 'one',
      length: 2,
      stage: 3,
      try: 2,
      tries: ['b'],
      retries: { all: [] },
      guards: [],
    });
  });

  it('has the labels of all results, and each result its own', () => {
    const context = pipelineContext(facts);
    expect(labelsOf(context)).toEqual(['pii']);
    expect([0, 1].map((index) => labelsOf(resultOfPipeline(context, index)))).toEqual([['pii'], []]);
  });

  it('counts back to the first stage and not to the source', () => {
    const context = pipelineContext(facts);
    expect([-1, -2, -3, -9].map((index) => resultOfPipeline(context, index))).toEqual(['two', 'one', '', '']);
    expect(resultOfPipeline(pipelineContext({ ...facts, results: [source] }), -1)).toBe('');
  });

  it('asks for the decisions of guards when a script looks at them', () => {
    const decided: string[] = [];
    const context = pipelineContext({ ...facts, guards: () => [...decided] });
    decided.push('late');
    expect(dataOf(context)).toMatchObject({ guards: ['late'] });
  });

  it('leaves other values and missing results to the access of any object', () => {
    expect(resultOfPipeline(pipelineContext(facts), 3)).toBeUndefined();
    expect(resultOfPipeline(pipelineContext(facts), 'try')).toBeUndefined();
    expect(resultOfPipeline({ 0: 'a' }, 0)).toBeUndefined();
    expect(resultOfPipeline('text', -1)).toBeUndefined();
  });

  it('lists the repeats of ended contexts where no stage retries', () => {
    const later = dataOf(pipelineContext({ ...facts, repeated: undefined, ended: [['b', 'c'], ['d']] }));
    expect(later).toMatchObject({ tries: [['b', 'c'], ['d']], retries: { all: [['b', 'c'], ['d']] } });
  });
});
