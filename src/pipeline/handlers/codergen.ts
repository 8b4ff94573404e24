/** Handles a model stage. graph-pipelines.md 7.3. */
import { INLINE_BYTES_MAX, outputId } from '../stage/artifacts.js';
import { callModel } from '../backends/call-model.js';
import { truncate } from '../stage/truncate.js';
import { labelOf, nodeAttribute } from '../model/graph.js';
import { outcomeOf } from '../model/outcome.js';
import { mergeStatusReport } from '../stage/status-report.js';
import type { Handler } from './handler.js';

const RESPONSE_CODE_POINTS = 200;

export const codergen: Handler = {
  callsModel: true,
  isTimed: true,
  limitsItsCalls: true,
  async handle(stage) {
    const { node, folder, run, artifacts } = stage;
    // Prompts have had the goal filled in; a label that replaces a missing prompt has not.
    const prompt = nodeAttribute(node, 'prompt') || labelOf(node).replaceAll('$goal', () => run.pipeline.goal) || node.id;
    folder.write('prompt.md', prompt);
    const { reply, outcome } = await callModel(stage, prompt, { takesOutcome: true });
    folder.write('response.md', reply);
    if (Buffer.byteLength(reply) > INLINE_BYTES_MAX) await artifacts.store(outputId(stage, 'response'), 'response', reply);
    const own = outcomeOf('success', { context_updates: { last_stage: node.id, last_response: truncate(reply, RESPONSE_CODE_POINTS) } });
    return mergeStatusReport(own, outcome);
  },
};
