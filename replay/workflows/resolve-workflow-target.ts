/** Resolves a `--resume` target of a workflow script: agents by label or prompt, phases by title. workflows-js.md 7. */
import type { CallKey } from '../../journal/ids.js';
import { previewOf } from '../fold/preview.js';
import { usable, type Memo } from '../memo/memo.js';
import { unjudgedCalls } from '../memo/overlay.js';
import type { Invalidation } from '../resume/invalidation.js';
import { ReplayError } from '../resume/errors.js';
import type { Selector } from '../resume/selector.js';
import type { AgentCalls } from './agent-calls.js';

/** The function that every call of a workflow script is one of. */
export const AGENT_FUNCTION = 'agent';

export interface WorkflowTargetFacts {
  readonly memo: Memo;
  readonly forks: readonly Memo[];
  readonly calls: AgentCalls;
  /** The titles of `meta.phases`. */
  readonly phases: readonly string[];
}

/**
 * Undefined for a target that means the same in every language. Throws RESUME_FUNCTION, RESUME_PREFIX, RESUME_CHECKPOINT,
 * RESUME_AMBIGUOUS.
 */
export function resolveWorkflowTarget(selector: Selector, facts: WorkflowTargetFacts): Invalidation | undefined {
  if (selector.kind === 'function') {
    const { name, text, prefix, exact } = selector;
    if (name !== AGENT_FUNCTION)
      throw new ReplayError('RESUME_FUNCTION', `--resume ${text}: a workflow script calls no function @${name}`, {
        hint: 'its calls are those of @agent: --resume @agent, or @agent("beginning of a label or prompt")',
      });
    if (exact !== undefined) return undefined;
    return prefix === undefined ? invalidate(facts, () => true) : ofPrefix(text, prefix, facts);
  }
  return selector.kind === 'checkpoint' ? fromPhase(selector.name, facts) : undefined;
}

function ofPrefix(text: string, prefix: string, facts: WorkflowTargetFacts): Invalidation {
  const { calls, memo, forks } = facts;
  const matches = (key: CallKey): boolean => {
    const preview = [memo, ...forks].map(({ entries }) => entries.get(key)?.preview).find((found) => found !== undefined);
    return calls.about.get(key)?.label?.startsWith(prefix) === true || preview?.startsWith(prefix) === true;
  };
  const found = invalidate(facts, matches);
  if (found.keys.length + found.forkedKeys.length > 0) return found;
  const labels = [...new Set([...calls.about.values()].flatMap(({ label }) => (label === undefined ? [] : [label])))].slice(0, 5);
  throw new ReplayError('RESUME_PREFIX', `--resume ${text}: no recorded result has a label or prompt that begins with ${quoted(prefix)}`, {
    hint: labels.length === 0 ? 'mlld checkpoint list shows what is recorded' : `labels are: ${labels.map(quoted).join(', ')}`,
  });
}

function fromPhase(name: string, facts: WorkflowTargetFacts): Invalidation {
  const { calls } = facts;
  const titles = [...new Set([...facts.phases, ...calls.phases])];
  const reached = titles.filter((title) => calls.phases.has(title));
  const matches = reached.includes(name) ? [name] : reached.filter((title) => title.startsWith(name));
  const [title, ...others] = matches;
  if (title === undefined)
    throw new ReplayError('RESUME_CHECKPOINT', `--resume ${quoted(name)}: no phase begins like that`, {
      hint: reached.length === 0 ? 'no recorded run reached a phase' : `phases that were reached: ${reached.map(quoted).join(', ')}`,
    });
  if (others.length > 0)
    throw new ReplayError('RESUME_AMBIGUOUS', `--resume ${quoted(name)} fits ${matches.length} phases`, {
      hint: `write more of the title: ${matches.map(quoted).join(', ')}`,
    });
  const selected = new Set(titles.slice(titles.indexOf(title)));
  return invalidate(facts, (key) => selected.has(calls.about.get(key)?.phase ?? ''));
}

function invalidate({ memo, forks }: WorkflowTargetFacts, selects: (key: CallKey) => boolean): Invalidation {
  const keys = [...usable(memo), ...unjudgedCalls(memo)].flatMap(([key, { fn }]) => (fn === AGENT_FUNCTION && selects(key) ? [key] : []));
  const forked = new Set(
    forks.flatMap((fork) => [...usable(fork)].flatMap(([key]) => (selects(key) && !memo.refused.has(key) ? [key] : []))),
  );
  return { keys: [...new Set(keys)], forkedKeys: [...forked] };
}

const quoted = (text: string): string => JSON.stringify(previewOf({ inline: [text] }) ?? text);
