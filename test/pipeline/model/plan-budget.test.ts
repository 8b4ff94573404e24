/** `--plan` of a pipeline says if a budget will do for the model stages that it lists. */
import { chmodSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import type { BudgetLimits } from '../../../src/calls/budget/limits.js';
import { planPipeline, type PipelinePlan } from '../../../src/session/pipeline/plan-pipeline.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { renderPipelinePlan } from '../../../cli/render/reports/pipeline-plan.js';
import { styleFor } from '../../../cli/render/style.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const CLAUDE = `#!/bin/sh
cat > /dev/null
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":0.5,"session_id":"s"}'
`;

let place: Workshop | undefined;
afterEach(() => place?.remove());

function shop(body: string, attributes = ''): Workshop {
  place = workshop(pipeline(body, attributes));
  place.write('claude', CLAUDE);
  chmodSync(`${place.folder}/claude`, 0o755);
  return place;
}

const own = ({ folder }: Workshop): Partial<PipelineRunOptions> => ({
  backend: 'claude',
  environment: { PATH: `${folder}:${process.env['PATH'] ?? ''}` },
});

async function planned(
  at: Workshop,
  budget: BudgetLimits | undefined,
  options: Partial<PipelineRunOptions> = {},
): Promise<{ readonly plan: PipelinePlan; readonly line: string | undefined }> {
  const calls = budget && { calls: { budget } };
  const plan = (await planPipeline({ ...at.options(), ...own(at), ...calls, ...options })) as PipelinePlan;
  return { plan, line: /^Budget .*/m.exec(renderPipelinePlan(plan, styleFor(false)))?.[0] };
}

const lineFor = async (...args: Parameters<typeof planned>): Promise<string | undefined> => (await planned(...args)).line;

it('by what their recorded replies had cost', async () => {
  const at = shop('a [prompt="A"]; b [prompt="B"]; c [prompt="C"]; start -> a -> b -> c -> exit');
  expect(await planned(at, undefined)).toMatchObject({ plan: { budget: null }, line: undefined });
  expect(await lineFor(at, { usd: 1 })).toBe('Budget 1usd: not known if it will do, because nothing is known of the cost of a, b, c.');
  expect((await at.run({ ...own(at), checkpoint: true })).report.status).toBe('completed');
  const tooLittle = await planned(at, { usd: 1 });
  expect(tooLittle.line).toBe('Budget 1usd: it will not do: the amount of money is reached after 2 of 3 calls.');
  expect(tooLittle.plan.budget).toEqual({ limits: { usd: 1 }, suffices: false, limit: 'usd', after: 2, isWhole: true });
  expect((await planned(at, { usd: 2 })).plan.budget).toMatchObject({ suffices: true, isWhole: true });
  expect(await lineFor(at, { usd: 1 }, { resume: 'b' })).toBe('Budget 1usd: it will do.');
  expect(await lineFor(at, { calls: 2 })).toBe('Budget 2calls: it will not do: the number of calls is reached after 2 of 3 calls.');
  expect(await lineFor(at, { usd: 2, ms: 60_000 })).toBe(
    'Budget 2usd,1m: not known if it will do, because nothing is known of the time of calls.',
  );
});

it('by nothing that another backend or model had cost', async () => {
  const at = shop('a [prompt="A"]; b [prompt="B", llm_model="opus"]; start -> a -> b -> exit');
  expect((await at.run({ ...own(at), checkpoint: true })).report.status).toBe('completed');
  expect(await lineFor(at, { usd: 2 })).toBe('Budget 2usd: it will do.');
  const unknown = (of: string): string => `Budget 2usd: not known if it will do, because nothing is known of the cost of ${of}.`;
  expect(await lineFor(at, { usd: 2 }, { backend: 'codex' })).toBe(unknown('a, b'));
  expect(await lineFor(at, { usd: 2 }, { backend: 'codex', resume: 'b' })).toBe(unknown('b'));
  at.write('p.dot', at.read('p.dot').replace('opus', 'sonnet'));
  expect(await lineFor(at, { usd: 2 })).toBe(unknown('b'));
});

it('as far as it is known which replies are reused', async () => {
  const at = shop('a [prompt="A"]; b [prompt="B"]; start -> a -> b -> exit');
  await at.run({ ...own(at), checkpoint: true });
  const options = { checkpoint: true };
  expect(await lineFor(at, { usd: 0.5 }, options)).toBe(
    'Budget 0.5usd: not known if it will do: that depends on how many prompts have changed.',
  );
  expect(await lineFor(at, { usd: 1 }, options)).toBe('Budget 1usd: it will do.');
});

it('and that it will not, but never that it will, where the run decides what follows', async () => {
  const at = shop(
    'a [prompt="A"]; look [shape=diamond]; b [prompt="B"]; start -> a -> look; look -> b [condition="context.x=1"]; look -> exit; b -> exit',
  );
  await at.run(own(at));
  expect(await lineFor(at, { usd: 9 })).toBe('Budget 9usd: not known if it will do; more calls may follow look.');
  expect(await lineFor(at, { usd: 0.25 })).toBe('Budget 0.25usd: it will not do: the amount of money is reached after 0 of 1 call.');
});

it('with the stages of branches and of child pipelines, which spend of it too', async () => {
  const at = shop(
    `fan [shape=component]; l [prompt="L"]; r [prompt="R"]; m [shape=tripleoctagon]; boss [shape=house, manager.poll_interval="1ms"]
     start -> fan; fan -> l -> m; fan -> r -> m; m -> boss -> exit`,
    'stack.child_dotfile="kid.dot"',
  );
  expect((await planned(at, { calls: 9 })).plan.budget).toMatchObject({ suffices: null, isWhole: false });
  at.write('kid.dot', pipeline('k [prompt="K"]; start -> k -> exit').replace('digraph g', 'digraph kid'));
  expect(await lineFor(at, { calls: 2 })).toBe('Budget 2calls: it will not do: the number of calls is reached after 2 of 3 calls.');
  expect(await lineFor(at, { calls: 3 })).toBe('Budget 3calls: it will do.');
});
