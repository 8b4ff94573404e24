/**
 * The carry-over text: what a model stage is told of the past. Computed from the state, newest first within a budget, without a model:
 * the same state gives the same text. graph-pipelines.md 9 and 9.1.
 */
import type { FidelityMode } from '../../../journal/pipeline-event.js';
import type { Json } from '../../../journal/event.js';
import { shortened } from '../../values/shortened.js';
import type { NotableView, StateView, WalkView } from './state-view.js';
import type { Turn } from './threads.js';

export interface PreambleSource {
  readonly goal: string;
  /** Empty where the text must not depend on the run. */
  readonly runId: string;
  /** The main path, then the branches around the node, the innermost last. */
  readonly walks: readonly WalkView[];
  readonly summaries: StateView['summaries'];
}

/** A token is taken as four characters. */
const BUDGET_UNITS: { readonly [M in FidelityMode]: number } = {
  full: Number.POSITIVE_INFINITY,
  truncate: 4_000,
  compact: 4_000,
  'summary:low': 2_400,
  'summary:medium': 6_000,
  'summary:high': 12_000,
};
/** Of one value of the context. The richest mode tells as much of each as lets all of them be told. */
const VALUE_UNITS = { compact: 200, medium: 400, high: [8_000, 4_000, 2_000, 1_000, 400, 200] };
const EXCERPT_UNITS = { medium: 160, high: 400 };
const RECENT_STAGES = 12;
/** Of the budget: stages leave some of it to the context. */
const STAGES_SHARE = 0.6;
const NOTABLE_SHARE = 0.75;
const GOAL_SHARE = 0.5;
const TITLE_UNITS = 'Context:'.length + 1;

export function renderPreamble(mode: Exclude<FidelityMode, 'full'>, past: PreambleSource): string {
  const lines = linesWithin(BUDGET_UNITS[mode]);
  lines.add(`Goal: ${past.goal === '' ? '(none given)' : shortened(past.goal, BUDGET_UNITS[mode] * GOAL_SHARE)}`);
  switch (mode) {
    case 'truncate':
      lines.add(`Run: ${past.runId}`);
      break;
    case 'compact':
      lines.section(
        'Finished stages, newest first:',
        stages(past).map(({ id, status, visits }) => `- ${id}: ${status}${times(visits)}`),
        STAGES_SHARE,
      );
      lines.section('Context:', contextLines(past, VALUE_UNITS.compact));
      break;
    case 'summary:low':
      lines.add(countsSentence(past));
      lines.section(
        'Last stages:',
        stages(past)
          .slice(0, 3)
          .map(({ id, status }) => `- ${id} ended ${status}`),
      );
      break;
    case 'summary:medium':
      lines.section(
        'Recent stages, newest first:',
        stages(past)
          .slice(0, RECENT_STAGES)
          .map((stage) => stageLine(stage, past, EXCERPT_UNITS.medium)),
        STAGES_SHARE,
      );
      lines.section('Notable:', notable(past), NOTABLE_SHARE);
      lines.section('Context:', contextLines(past, VALUE_UNITS.medium));
      break;
    case 'summary:high':
      lines.add(countsSentence(past));
      lines.section(
        'Stages, newest first:',
        stages(past).map((stage) => stageLine(stage, past, EXCERPT_UNITS.high)),
        STAGES_SHARE,
      );
      lines.section('Notable:', notable(past), NOTABLE_SHARE);
      lines.section('Context:', wholeContext(past, lines.unitsLeft()));
      break;
  }
  return lines.text();
}

/** What was said in a thread, for backends that keep no conversations themselves. */
export function renderTranscript(turns: readonly Turn[]): string {
  return turns.map(({ prompt, reply }) => `Earlier prompt:\n${prompt}\n\nYour reply:\n${reply}`).join('\n\n');
}

interface FinishedStage {
  readonly id: string;
  readonly status: string;
  readonly reason: string | undefined;
  readonly visits: number;
}

/** Every finished stage once, with its latest status, newest first. */
function stages({ walks }: PreambleSource): readonly FinishedStage[] {
  const found = new Map<string, FinishedStage>();
  for (const { latest, visits } of walks.toReversed()) {
    for (const { node_id: id, outcome: status, failure_reason: reason } of [...latest.values()].reverse()) {
      if (!found.has(id)) found.set(id, { id, status, reason, visits: visits.get(id) ?? 1 });
    }
  }
  return [...found.values()];
}

function stageLine({ id, status, reason, visits }: FinishedStage, { summaries }: PreambleSource, units: number): string {
  const excerpt = summaries.findLast(({ node }) => node === id)?.text ?? reason ?? '';
  return `- ${id}: ${status}${times(visits)}${excerpt === '' ? '' : `: ${shortened(oneLine(excerpt), units)}`}`;
}

function notable({ walks }: PreambleSource): string[] {
  return walks.toReversed().flatMap(({ notable: facts }) => facts.map(notableLine).reverse());
}

function notableLine(fact: NotableView): string {
  switch (fact.kind) {
    case 'failed':
      return `- ${fact.node} failed${fact.visit === 0 ? '' : ` on visit ${fact.visit + 1}`}`;
    case 'retried':
      return `- ${fact.node} needed ${fact.attempts} attempts`;
    case 'jumped':
      return `- the walk jumped from ${fact.from} to ${fact.to}`;
    case 'answered':
      return `- ${fact.node} was answered: ${fact.choice}`;
  }
}

function countsSentence({ walks }: PreambleSource): string {
  const sum = (of: (walk: WalkView) => number): number => walks.reduce((total, walk) => total + of(walk), 0);
  const finished = sum(({ history }) => history.length);
  return `So far ${finished} stages have finished, ${sum(({ failures }) => failures)} of them failed, with ${sum(({ retried }) => retried)} retries.`;
}

function contextLines({ walks }: PreambleSource, units: number): string[] {
  const { context } = walks.at(-1) as WalkView; // never empty
  return Object.entries(context)
    .filter(([key]) => !key.startsWith('graph.') && !key.startsWith('internal.'))
    .reverse()
    .map(([key, value]) => `- ${key}: ${shortened(oneLine(textOf(value)), units)}`);
}

/** With values cut as little as fits. */
function wholeContext(past: PreambleSource, unitsLeft: number): readonly string[] {
  const ways = VALUE_UNITS.high.map((units) => contextLines(past, units));
  const fits = (entries: readonly string[]): boolean =>
    entries.reduce((sum, entry) => sum + entry.length + 1, 0) <= unitsLeft - TITLE_UNITS;
  return ways.find(fits) ?? ways.at(-1) ?? [];
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const times = (visits: number): string => (visits > 1 ? ` (${visits} visits)` : '');
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Lines as long as they fit: sections come in the order of their worth. */
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
    /** As many entries as fit; `share` is what of the budget may be used up by then. */
    section(title: string, entries: readonly string[], share = 1): void {
      if (entries.length > 0 && add(title)) entries.every((entry) => used + entry.length < budgetUnits * share && add(entry));
    },
    unitsLeft: () => budgetUnits - used,
    text: () => lines.join('\n'),
  };
}
