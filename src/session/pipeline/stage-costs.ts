/**
 * Finds what the recorded replies of stages cost, for the plan of a pipeline. A reply of another backend or model tells nothing of what
 * those of now will cost.
 */
import type { Definitions } from '../../../replay/memo/definitions.js';
import type { Memo, MemoEntry } from '../../../replay/memo/memo.js';
import { costsIn, type CostsByFunction } from '../../../replay/resume/estimate.js';
import { settingParts } from '../../pipeline/backends/call-model.js';
import { backendFor, writtenBackend } from '../../pipeline/backends/select-backend.js';
import { modelSettingsOf, type Graph } from '../../pipeline/model/graph.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';

interface RecordedReplies {
  readonly memo: Memo;
  readonly definitions: Definitions;
}

/** `others`: the functions that have replies of other backends or models alone. */
export interface StageCosts {
  readonly costs: CostsByFunction;
  readonly others: ReadonlySet<string>;
}

export function stageCosts(
  recorded: readonly RecordedReplies[],
  graph: Graph,
  { backend, backends }: Pick<PipelineRunOptions, 'backend' | 'backends'>,
): StageCosts {
  const now = new Map<string, ReadonlyMap<string, string>>();
  for (const node of graph.nodes.values()) {
    const written = writtenBackend(backend, graph, node);
    if (!written) continue;
    const parts = settingParts(backendFor(written, backends), modelSettingsOf(graph, node));
    now.set(`${graph.name}.${node.id}`, new Map(parts.map(({ name, digest }) => [name, digest])));
  }
  const definitions = new Map(recorded.map((one) => [one.memo, one.definitions] as const));
  const isLikeNow = (memo: Memo, { fn, fingerprint }: MemoEntry): boolean => {
    const wanted = now.get(fn);
    const parts = fingerprint === undefined ? undefined : definitions.get(memo)?.get(fingerprint)?.parts;
    return parts?.every(({ name, digest }) => (wanted?.get(name) ?? digest) === digest) ?? true;
  };
  const memos = recorded.map(({ memo }) => memo);
  const costs = costsIn(memos, isLikeNow);
  return { costs, others: new Set([...costsIn(memos).keys()].filter((fn) => !costs.has(fn))) };
}
