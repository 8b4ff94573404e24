/** Handles a fan-in, where branches meet: picks the best of them. graph-pipelines.md 7.6. */
import type { Json } from '../../../journal/event.js';
import { shellWords } from '../../../journal/shell-words.js';
import { callModel } from '../backends/call-model.js';
import { RESULTS_KEY, withoutChildRuns } from '../model/context-keys.js';
import { nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type StageStatus } from '../model/outcome.js';
import type { Stage } from '../stage/stage.js';
import type { Handler } from './handler.js';
import type { BranchResult } from './parallel.js';

/** Best first. */
const CANDIDATES: readonly StageStatus[] = ['success', 'partial_success', 'retry'];

export const fanIn: Handler = {
  callsModel: true,
  isTimed: true,
  limitsItsCalls: true,
  async handle(stage) {
    // Only the parallel handler can set this key.
    const results = (stage.context[RESULTS_KEY] ?? []) as unknown as readonly BranchResult[];
    if (!Array.isArray(results) || results.length === 0) {
      throw new StageError(
        'permanent',
        `${stage.node.id} has no results to choose from: draw edges to it from the branches of a parallel node`,
      );
    }
    const candidates = results.filter(({ outcome }) => CANDIDATES.includes(outcome));
    const ranked = [...candidates].sort(byRank)[0];
    if (!ranked) throw new StageError('permanent', `every branch before ${stage.node.id} failed${remedyFor(stage)}`);
    const { best, notes } = await chosen(stage, candidates, ranked);
    const updates = { 'parallel.fan_in.best_id': best.id, 'parallel.fan_in.best_outcome': best.outcome };
    return outcomeOf('success', { context_updates: updates, notes });
  },
};

/**
 * A bare `--resume` enters the node that failed, which would find the same results; a node inside a branch can't be named.
 * graph-pipelines.md 10.3.
 */
function remedyFor({ run: { pipeline }, branch, node, walks }: Stage): string {
  if (branch !== undefined) return '';
  const isBefore = (id: string): boolean => pipeline.has(id) && pipeline.handlerOf(id) === 'parallel' && pipeline.joinOf(id) === node.id;
  const parallel = walks[0]?.history.findLast(({ node_id: id }) => isBefore(id));
  return parallel === undefined ? '' : `; ${shellWords(['--resume', parallel.node_id])} runs them again`;
}

function byRank(a: BranchResult, b: BranchResult): number {
  return CANDIDATES.indexOf(a.outcome) - CANDIDATES.indexOf(b.outcome) || b.score - a.score || (a.id < b.id ? -1 : 1);
}

async function chosen(
  stage: Stage,
  candidates: readonly BranchResult[],
  ranked: BranchResult,
): Promise<{ readonly best: BranchResult; readonly notes: string }> {
  const prompt = nodeAttribute(stage.node, 'prompt') ?? '';
  if (prompt === '') return { best: ranked, notes: '' };
  const text = `${prompt}\n\nResults:\n${JSON.stringify(withoutChildRuns(candidates as unknown as Json), undefined, 2)}\n\nName the id of the best one.`;
  stage.folder.write('prompt.md', prompt);
  const { reply } = await callModel(stage, text);
  stage.folder.write('response.md', reply);
  const named = firstNamed(reply, candidates);
  return named
    ? { best: named, notes: '' }
    : { best: ranked, notes: 'the model named no candidate, so the best was picked by status, score and id' };
}

/** Returns the candidate whose id is the first to occur in the text as a whole word. */
function firstNamed(reply: string, candidates: readonly BranchResult[]): BranchResult | undefined {
  const occurrences = candidates.map((candidate) => {
    const { index } = new RegExp(`(?<![\\w-])${candidate.id.replaceAll(/[^\w]/g, '\\$&')}(?![\\w-])`).exec(reply) ?? { index: -1 };
    return { candidate, index };
  });
  return occurrences.filter(({ index }) => index >= 0).sort((a, b) => a.index - b.index)[0]?.candidate;
}
