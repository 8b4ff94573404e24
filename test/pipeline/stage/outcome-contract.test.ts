import { describe, expect, it } from 'vitest';
import { compilePipeline } from '../../../src/pipeline/model/compiled-pipeline.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';
import { outcomeContract, outcomeInReply } from '../../../src/pipeline/stage/outcome-contract.js';
import { pipeline } from '../../support/pipeline-run.js';

const compiled = (body: string) => compilePipeline(preparePipeline(pipeline(body)), new Set());

describe('the contract that a model is told', () => {
  it('names the stage, the four words and the reason', () => {
    const text = outcomeContract(compiled('a; start -> a -> exit'), 'a');
    expect(text).toContain('the stage a of the pipeline g');
    for (const word of ['success', 'partial_success', 'fail', 'retry']) expect(text).toContain(`"${word}"`);
    expect(text).toContain('"failure_reason"');
    expect(text).not.toContain('preferred_label');
  });

  it('names the labels of plain edges, each once, and none of an edge with a condition', () => {
    const body = `a; b; c; start -> a; a -> b [label="Say \\"yes\\""]; a -> c [label="Go on"]; a -> exit [label="Go on"]
      a -> exit [label="Broken", condition="outcome=fail"]; b -> exit; c -> exit`;
    const text = outcomeContract(compiled(body), 'a');
    expect(text).toContain('chooses what follows: "Say \\"yes\\"", "Go on".');
    expect(text).not.toContain('Broken');
  });
});

describe('the report at the end of a reply', () => {
  const fail = { status: 'fail', failure_reason: 'no ink', preferred_label: '', notes: '', suggested_next_ids: [], context_updates: {} };

  it.each([
    ['its last line', 'I tried.\n{"outcome": "fail", "failure_reason": "no ink"}\n'],
    ['the whole reply', '{"outcome": "fail", "failure_reason": "no ink"}'],
    ['several lines', 'I tried.\n{\n  "outcome": "fail",\n  "failure_reason": "no ink"\n}'],
    ['a fenced block', 'I tried.\n\n```json\n{"outcome": "fail", "failure_reason": "no ink"}\n```'],
  ])('is read as %s', (_, reply) => {
    expect(outcomeInReply(reply)).toEqual(fail);
  });

  it.each([
    'The API returns:\n```json\n{"outcome": "delivered"}\n```\nThat is documented.',
    'It answers\n{"outcome": {"code": 3}, "more": {"a": 1}}\nin all cases.',
  ])('is no JSON that the reply shows in its middle: %j', (reply) => {
    expect(outcomeInReply(reply)).toBeUndefined();
  });

  it.each(['{"outcome": "fail"}\nDone.', '{"outcome": "fail", "failure_reason": "no', '{"outcome": "delivered"}', '{"outcome": "fail",}'])(
    'can’t be used, and is none the less one: %j',
    (reply) => {
      expect(() => outcomeInReply(`I tried.\n${reply}`)).toThrow('the report at the end of the reply');
    },
  );

  it('chooses an edge and leaves values for later stages', () => {
    expect(outcomeInReply('Done.\n{"outcome": "success", "preferred_label": "Go on", "context_updates": {"berth": 4}}')).toMatchObject({
      status: 'success',
      preferred_label: 'Go on',
      context_updates: { berth: 4 },
    });
  });

  it.each([
    ['nothing', 'All is well.'],
    ['another object', 'The tide:\n{"height": 3}'],
    ['an object before the last words', '{"outcome": "fail"}\n{"height": 3}'],
    ['the word in a sentence', 'The "outcome" is good.'],
    ['an empty reply', ''],
  ])('is missing in a reply with %s', (_, reply) => {
    expect(outcomeInReply(reply)).toBeUndefined();
  });

  it.each([
    ['{"outcome": "fail", ', 'not an object'],
    ['{"outcome": "great"}', 'has to be one of'],
    ['{"outcome": "fail", "notes": 3}', '"notes" has to be a string'],
  ])('that can not be used is refused: %s', (reply, why) => {
    expect(() => outcomeInReply(`Hm.\n${reply}`)).toThrow(why);
    expect(() => outcomeInReply(`Hm.\n${reply}`)).toThrow('the report at the end of the reply');
  });
});
