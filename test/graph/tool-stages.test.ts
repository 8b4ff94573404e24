/** What a command of a stage sees and leaves. Reference 7.7. */
import { afterEach, expect, it } from 'vitest';
import { pipeline, workshop, type Workshop } from '../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('does not show the key of the journal to commands', async () => {
  place = workshop(pipeline('a [shape=parallelogram, tool_command="echo key=$MLLD_JOURNAL_KEY berth=$BERTH"]\nstart -> a -> exit'));
  const environment = { PATH: process.env['PATH'], BERTH: '4', MLLD_JOURNAL_KEY: 'ab'.repeat(32) };
  const { checkpoint } = await place.run({ environment });
  expect(checkpoint.context['tool.output']).toBe('key= berth=4');
});
