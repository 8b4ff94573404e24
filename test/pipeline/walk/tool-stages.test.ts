/** Commands of stages get variables and files, and leave output and reports. graph-pipelines.md 7.7. */
import { afterEach, expect, it } from 'vitest';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('does not show the key of the journal to commands', async () => {
  place = workshop(pipeline('a [shape=parallelogram, tool_command="echo key=$MLLD_JOURNAL_KEY berth=$BERTH"]\nstart -> a -> exit'));
  const environment = { PATH: process.env['PATH'], BERTH: '4', MLLD_JOURNAL_KEY: 'ab'.repeat(32) };
  const { checkpoint } = await place.run({ environment });
  expect(checkpoint.context['tool.output']).toBe('key= berth=4');
});

it.each([
  ['echo \'{"outcome":"fail"}\' > $MLLD_STATUS_FILE', 'a failed without a reason'],
  ['echo \'{"outcome":"fail"}\' > $MLLD_STATUS_FILE; echo no ink >&2; exit 4', 'the command ended with status 4: no ink'],
  ['echo \'{"outcome":"fail","failure_reason":"no paper"}\' > $MLLD_STATUS_FILE; exit 4', 'no paper'],
])('fails with a reason: %s', async (command, reason) => {
  place = workshop(pipeline(`a [shape=parallelogram, tool_command="${command.replaceAll('"', '\\"')}"]; start -> a -> exit`));
  const { report, checkpoint } = await place.run();
  expect(report).toMatchObject({ status: 'failed', error: { message: reason } });
  expect(checkpoint.node_history[1]).toMatchObject({ failure_reason: reason });
});

it('names the stage that requested a retry without a reason', async () => {
  const command = 'echo \'{\\"outcome\\":\\"retry\\"}\' > $MLLD_STATUS_FILE';
  place = workshop(pipeline(`a [shape=parallelogram, tool_command="${command}", max_retries=1, retry_delay="1ms"]; start -> a -> exit`));
  const { report, events } = await place.run();
  expect(events.find(({ type }) => type === 'retry.scheduled')).toMatchObject({ cause: 'asked', reason: 'a requested a retry' });
  expect(report).toMatchObject({ status: 'failed', error: { message: 'retries exhausted' } });
});
