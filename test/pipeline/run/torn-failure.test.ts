/** A pipeline that failed, and whose journal is torn near its end, continues with the first resume: what failed runs again. */
import { afterEach, expect, it } from 'vitest';
import { recordPipeline, resumeWith, tideIsOut } from '../../support/recorded-pipeline.js';
import { pipeline, type Workshop } from '../../support/pipeline-run.js';

const places: Workshop[] = [];
afterEach(() => places.splice(0).forEach((place) => place.remove()));

/** From before the stage that fails to the end. */
const LINES = 20;
const PAID = 'graph [backend="paid:it"]';

it.each([
  ['a stage fails', pipeline('a [prompt="A"]; z [type=last]; start -> a -> z -> exit', PAID)],
  ['a stage fails behind a loop', pipeline('a [type=work]; z [type=last, retry_target=a]; start -> a -> z -> exit', 'max_jumps=2')],
  [
    'a conditional node has no way for a failure',
    pipeline('z [type=last]; look [shape=diamond]; start -> z -> look; look -> exit [condition="outcome=success"]'),
  ],
  [
    'a goal gate is not met',
    pipeline('z [type=last, goal_gate=true]; a [type=work]; start -> z; z -> a [condition="outcome=fail"]; z -> a; a -> exit'),
  ],
  ['a limit of steps', pipeline('a [type=work]; b [type=work]; z [type=last]; start -> a -> b -> z -> exit', 'max_steps=3')],
])('%s', { timeout: 120_000 }, async (_, text) => {
  const recorded = await recordPipeline(text, tideIsOut, places);
  expect(recorded.status).toBe('failed');
  const trouble: string[] = [];
  for (let kept = Math.max(1, recorded.lines.length - LINES); kept <= recorded.lines.length; kept++) {
    const { status, said, again } = await resumeWith(recorded, `${recorded.lines.slice(0, kept).join('\n')}\n`);
    const isStuck = status !== 'completed' && again.tools.size === 0; // a limit may be met again, with something done
    if (isStuck) trouble.push(`torn behind line ${kept}, ${recorded.events[kept - 1]?.type}: ${status}: ${said}`);
  }
  expect(trouble).toEqual([]);
});
