/** Inputs that a graph declares: their defaults, kinds, and what is no input. graph-pipelines.md 8.1. */
import { afterEach, describe, expect, it } from 'vitest';
import { diagnosePipeline } from '../../../src/pipeline/lint/diagnostics.js';
import { declaredInputs } from '../../../src/pipeline/model/inputs.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const TEXT = pipeline(
  'ask [shape=parallelogram, tool_command="test -e go"]; start -> ask -> exit',
  'graph [input.berth=4, input.depth=1.5, input.night=false, input.note="", input.token="", secrets="token"]',
);

let shop: Workshop | undefined;
afterEach(() => shop?.remove());

it('lists the declared inputs with their kinds', () => {
  const { graph } = diagnosePipeline({ file: 'p.dot', text: TEXT });
  expect(declaredInputs(graph!).map(({ key, kind, default: fallback, isSecret }) => [key, kind, fallback, isSecret])).toEqual([
    ['berth', 'integer', '4', false],
    ['depth', 'number', '1.5', false],
    ['night', 'boolean', 'false', false],
    ['note', 'text', '', false],
    ['token', 'text', '', true],
  ]);
});

it('has no effect that lint complains about', () => {
  expect(diagnosePipeline({ file: 'p.dot', text: TEXT }).report.diagnostics).toEqual([]);
});

describe('a run', () => {
  it('has the defaults of the inputs that are not set, and keeps its values when it is resumed', async () => {
    shop = workshop(TEXT);
    const { report, checkpoint, stderr } = await shop.run({ set: { berth: '7' } });
    const values = { berth: '7', depth: '1.5', night: 'false', note: '', 'graph.input.berth': 4 };
    expect([report.status, checkpoint.context, stderr]).toEqual(['failed', expect.objectContaining(values), '']);
    expect(checkpoint.context).not.toHaveProperty('token');
    shop.write('go', '');
    const resumed = await shop.run({ resume: '' });
    expect([resumed.report.status, resumed.checkpoint.context, resumed.stderr]).toEqual([
      'completed',
      expect.objectContaining(values),
      expect.not.stringContaining('--set'),
    ]);
  });

  it.each([
    [{ berth: 'four' }, 'INPUT_VALUE', '--set berth=four: this input is a whole number'],
    [{ depth: 'deep' }, 'INPUT_VALUE', '--set depth=deep: this input is a number'],
    [{ night: 'yes' }, 'INPUT_VALUE', '--set night=yes: this input is true or false'],
  ])('refuses %j', async (set, code, message) => {
    shop = workshop(TEXT);
    expect((await shop.begin({ set })).error).toMatchObject({ code, message });
  });

  it('refuses a declared key of the engine', async () => {
    shop = workshop(pipeline('start -> exit', 'graph [input.outcome="success"]'));
    expect((await shop.begin()).error).toMatchObject({ code: 'CONTEXT_KEY' });
  });

  it('warns about a key that is not declared, where any is', async () => {
    shop = workshop(TEXT);
    shop.write('go', '');
    const { report, stderr } = await shop.run({ set: { bert: '7' } });
    expect([report.status, stderr]).toEqual([
      'completed',
      'warning: --set bert: the pipeline declares no such input; it declares berth, depth, night, note, token\n',
    ]);
  });
});
