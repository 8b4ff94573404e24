/**
 * Renders the carry-over text, which tells a model stage what happened before it. It is computed from the state alone, newest first within
 * a budget and without a model, so that the same state gives the same text. graph-pipelines.md 9 and 9.1.
 */
import type { FidelityMode } from '../../../journal/facts/pipeline-event.js';
import type { Json } from '../../../journal/event.js';
import { onOneLine, shortened } from '../../values/shortened.js';
import { CHILD_RUN_KEY, RESULTS_KEY, withoutChildRuns } from '../model/context-keys.js';
import type { NotableView, WalkView } from './state-view.js';
import type { Turn } from './threads.js';

export interface PreambleSource {
  readonly goal: string;
  readonly runId: string;
  /** The text of a call key is that of any run in which the same came of each stage: it has no ids of runs, and no attempts that failed. */
  readonly isForKey?: true;
  /** The main path, then the branches around the node, the innermost last; never empty. */
  readonly walks: readonly WalkView[];
}

/** A token counts as four characters. */
const BUDGET_UNITS: { readonly [M in FidelityMode]: number } = {
  full: Number.POSITIVE_INFINITY,
  truncate: 4_000,
  compact: 4_000,
  'summary:low': 2_400,
  'summary:medium': 6_000,
  'summary:high': 12_000,
};
/** The most units of one context value. The richest mode takes the largest limit at which all values fit. */
const VALUE_UNITS = { compact: 200, medium: 400, high: [8_000, 4_000, 2_000, 1_000, 400, 200] };
const EXCERPT_UNITS = { medium: 160, high: 400 };
const RECENT_STAGES = 12;
/** The part of the budget that stages may use, so that some is left for the context. */
const STAGES_SHARE = 0.6;
const NOTABLE_SHARE = 0.75;
const GOAL_SHARE = 0.5;
const TITLE_UNITS = 'Context:'.length + 1;

export function renderPreamble(mode: Exclude<FidelityMode, 'full'>, source: PreambleSource): string {
  const lines = linesWithin(BUDGET_UNITS[mode]);
  lines.add(`Goal: ${source.goal === '' ? '(none given)' : shortened(source.goal, BUDGET_UNITS[mode] * GOAL_SHARE)}`);
  switch (mode) {
    case 'truncate':
      lines.add(`Run: ${source.isForKey ? '' : source.runId}`);
      break;
    case 'compact':
      lines.section(
        'Finished stages, newest first:',
        stages(source).map(({ id, status, visits }) => `- ${id}: ${status}${times(visits)}`),
        STAGES_SHARE,
      );
      lines.section('Context:', contextLines(source, VALUE_UNITS.compact));
      break;
    case 'summary:low':
      lines.add(countsSentence(source));
      lines.section(
        'Last stages:',
        stages(source)
          .slice(0, 3)
          .map(({ id, status }) => `- ${id} ended ${status}`),
      );
      break;
    case 'summary:medium':
      lines.section(
        'Recent stages, newest first:',
        stages(source)
          .slice(0, RECENT_STAGES)
          .map((stage) => stageLine(stage, EXCERPT_UNITS.medium)),
        STAGES_SHARE,
      );
      lines.section('Notable:', notable(source), NOTABLE_SHARE);
      lines.section('Context:', contextLines(source, VALUE_UNITS.medium));
      break;
    case 'summary:high':
      lines.add(countsSentence(source));
      lines.section(
        'Stages, newest first:',
        stages(source).map((stage) => stageLine(stage, EXCERPT_UNITS.high)),
        STAGES_SHARE,
      );
      lines.section('Notable:', notable(source), NOTABLE_SHARE);
      lines.section('Context:', wholeContext(source, lines.unitsLeft()));
      break;
  }
  return lines.text();
}

/** Renders the earlier turns of a thread, for backends that keep no conversations themselves. */
export function renderTranscript(turns: readonly Turn[]): string {
  return turns.map(({ prompt, reply }) => `Earlier prompt:\n${prompt}\n\nYour reply:\n${reply}`).join('\n\n');
}

interface FinishedStage {
  readonly id: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly visits: number;
  /** The head of its reply; undefined for a stage without one. */
  readonly excerpt: string | undefined;
}

/** Lists each finished stage once with its latest status, newest first. */
function stages({ walks }: PreambleSource): readonly FinishedStage[] {
  const found = new Map<string, FinishedStage>();
  for (const { latest, visits, excerpts } of walks.toReversed()) {
    for (const { node_id: id, outcome: status, failure_reason: reason } of [...latest.values()].reverse()) {
      if (!found.has(id)) found.set(id, { id, status, reason, visits: visits.get(id) ?? 1, excerpt: excerpts.get(id) });
    }
  }
  return [...found.values()];
}

function stageLine({ id, status, reason, visits, excerpt }: FinishedStage, units: number): string {
  const text = excerpt ?? reason ?? '';
  return `- ${id}: ${status}${times(visits)}${text === '' ? '' : `: ${shortened(onOneLine(text), units)}`}`;
}

function notable({ walks, isForKey }: PreambleSource): string[] {
  const isTold = (fact: NotableView): boolean => !isForKey || fact.kind !== 'retried' || fact.answered > 0;
  const told = ({ notable: facts }: WalkView): readonly NotableView[] => facts.filter(isTold).reverse();
  return walks.toReversed().flatMap((walk) => told(walk).map((fact) => notableLine(fact, isForKey)));
}

function notableLine(fact: NotableView, isForKey: PreambleSource['isForKey']): string {
  switch (fact.kind) {
    case 'failed':
      return `- ${fact.node} failed${fact.visit === 0 ? '' : ` on visit ${fact.visit + 1}`}`;
    case 'retried':
      return `- ${fact.node} needed ${isForKey ? fact.answered + 1 : fact.attempts} attempts`;
    case 'jumped':
      return `- the walk jumped from ${fact.from} to ${fact.to}`;
    case 'answered':
      return `- ${fact.node} was answered: ${fact.choice}`;
  }
}

function countsSentence({ walks, isForKey }: PreambleSource): string {
  const sum = (of: (walk: WalkView) => number): number => walks.reduce((total, walk) => total + of(walk), 0);
  const finished = sum(({ history }) => history.length);
  const retries = sum(({ retried, answered }) => (isForKey ? answered : retried));
  return `So far ${finished} stages have finished, ${sum(({ failures }) => failures)} of them failed, with ${retries} retries.`;
}

function contextLines({ walks, isForKey }: PreambleSource, units: number): string[] {
  const { context } = walks.at(-1) as WalkView; // never empty
  const shown = isForKey ? withoutChildRun(context) : context;
  return Object.entries(shown)
    .filter(([key]) => !key.startsWith('graph.') && !key.startsWith('internal.'))
    .reverse()
    .map(([key, value]) => `- ${key}: ${shortened(onOneLine(textOf(value)), units)}`);
}

function withoutChildRun(context: WalkView['context']): WalkView['context'] {
  const results = context[RESULTS_KEY];
  const { [CHILD_RUN_KEY]: _, ...rest } = context;
  return results === undefined ? rest : { ...rest, [RESULTS_KEY]: withoutChildRuns(results) };
}

/** Returns the context with its values cut as little as fits. */
function wholeContext(source: PreambleSource, unitsLeft: number): readonly string[] {
  const ways = VALUE_UNITS.high.map((units) => contextLines(source, units));
  const fits = (entries: readonly string[]): boolean =>
    entries.reduce((sum, entry) => sum + entry.length + 1, 0) <= unitsLeft - TITLE_UNITS;
  return ways.find(fits) ?? ways.at(-1) ?? [];
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const times = (visits: number): string => (visits > 1 ? ` (${visits} visits)` : '');

/** Collects lines while they fit into the budget: add the most valuable sections first. */
function linesWithin(budgetUnits: number) {
  const lines: string[] = [];
  let used = 0;
  const add = (line: string): boolean => {
    if (used + line.length + 1 > budgetUnits) return false;
    lines.push(line);
    used += line.length + 1;
    return true;
  };
  return {
    add,
    /** Adds as many entries as fit; `share` is the part of the budget that may be used after it. */
    section(title: string, entries: readonly string[], share = 1): void {
      if (entries.length > 0 && add(title)) entries.every((entry) => used + entry.length < budgetUnits * share && add(entry));
    },
    unitsLeft: () => budgetUnits - used,
    text: () => lines.join('\n'),
  };
}
