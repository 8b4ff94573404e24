/** Renders `--plan`: the number that matters first, then function by function, then the estimate. */
import type { BudgetVerdict, RunPlan } from '../../../src/api/commands/plan.js';
import { describeChange } from '../../../src/api/commands/words.js';
import type { WhyNotReused } from '../../../replay/resume/decide-reuse.js';
import type { PlannedFunction } from '../../../replay/resume/plan.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { wrapAll } from '../wrap.js';
import type { FunctionEstimate } from '../../../replay/resume/estimate.js';
import { costOrDash, duration, money } from '../units.js';
import { renderBudgetVerdict } from './budget-verdict.js';
import { counted } from './garbage-collection.js';

const PREVIEW_UNITS_MAX = 40;
const CHANGES_SHOWN = 5;

export function renderPlan(plan: RunPlan, style: Style): string {
  const lines = [
    `Plan for ${plan.name} (${plan.workflow})${flagsOf(plan)}; nothing was run or recorded.`,
    ...plan.notices,
    style.bold(headline(plan)),
    ...changedLine(plan),
  ];
  for (const entry of plan.functions) lines.push('', ...functionLines(entry, plan, style));
  if (plan.functions.length > 0 || (plan.estimate?.calls ?? 0) > 0) lines.push('', ...estimateLines(plan, notCounted(plan)));
  if (plan.budget !== null) lines.push('', budgetLine(plan, plan.budget, style));
  return `${wrapAll(lines.map(oneLine), style).join('\n')}\n`;
}

function flagsOf({ flags: { checkpoint, fresh, resume, changed, keepFiles, forks = [] } }: RunPlan): string {
  const words = [
    ...(checkpoint === true ? ['--checkpoint'] : []),
    ...(fresh === true ? ['--fresh'] : []),
    ...forks.map((fork) => `--fork ${fork}`),
    ...(resume === undefined ? [] : [`--resume ${resume}`.trim()]),
    ...(changed === undefined ? [] : [`--changed ${changed}`]),
    ...(keepFiles === true ? ['--keep-files'] : []),
  ];
  return words.length === 0 ? '' : ` with ${words.join(' ')}`;
}

function changedLine({ changedFiles, usable }: RunPlan): string[] {
  if (changedFiles.length === 0 || usable === 0) return [];
  const shown = changedFiles.slice(0, CHANGES_SHOWN).join(', ');
  const more = changedFiles.length > CHANGES_SHOWN ? ` and ${changedFiles.length - CHANGES_SHOWN} more` : '';
  return [`Changed since the last run read it: ${shown}${more}. Calls with arguments from there are new calls, which no plan can count.`];
}

function headline(plan: RunPlan): string {
  const { usable, again, unresolved, notExecuted, forwarded, later, unused, records, reuses, lastRun, changedFiles } = plan;
  if (lastRun === null && usable === 0) return 'Nothing is recorded for this script: every call will be executed.';
  if (!records && !reuses) return `Nothing is recorded or reused here: ${counted(usable, 'recorded result')} would be unused.`;
  const open = unresolved === 0 ? '' : `${counted(unresolved, 'call')} ${unresolved === 1 ? 'has' : 'have'} no result yet`;
  const behind = notExecuted === 0 ? '' : `; ${notExecuted} more ${notExecuted === 1 ? 'was' : 'were'} not executed because of failed ones`;
  const others =
    forwarded === 0
      ? ''
      : ` ${forwarded}${again === 0 ? '' : ' more'} ${forwarded === 1 ? 'runs' : 'run'} again where what ${forwarded === 1 ? 'its function' : 'their function'} forwards has changed.`;
  const isExact = forwarded + later + changedFiles.length === 0 && lastRun !== null;
  const withResult = usable > 0 ? runAgain(again, usable, isExact) : open === '' ? 'No call will run again' : '';
  const calls = [withResult, open].filter((part) => part !== '').join('; ');
  const known = `${calls}${behind}${ahead(plan)}.${others}${beyondForks(plan)}`;
  const aside =
    unused === 0
      ? ''
      : ` This run does not need ${counted(unused, 'further recorded result')}: calls inside reused ones, or calls that recent runs did not make.`;
  if (later === 0) return `${known}${aside}`;
  const [come, their] =
    later === 1
      ? ['comes after them and runs again if a result changes', 'its']
      : ['come after them and run again where a result changes', 'their'];
  return `${known} ${later} more ${come} ${their} arguments.${aside}`;
}

function runAgain(again: number, usable: number, isExact: boolean): string {
  if (isExact) return `${again} of ${counted(usable, 'call')} will run again`;
  if (again > 0) return `At least ${again} of ${counted(usable, 'call')} will run again`;
  return usable === 1 ? 'The 1 call is not certain to run again' : `None of ${usable} calls is certain to run again`;
}

/** Before its first run, only results of forks tell which calls a script makes. */
function beyondForks({ lastRun }: RunPlan): string {
  return lastRun === null
    ? ' This script has no recorded run: other calls that it makes will be executed, and no plan can count them.'
    : '';
}

export function ahead({ estimate }: Pick<RunPlan, 'estimate'>): string {
  const { notStarted: calls = 0, notStartedAsIn = null } = estimate ?? {};
  if (calls === 0) return '';
  const by = notStartedAsIn === null ? 'from the unfinished loops of the last run' : `if it makes as many calls as run ${notStartedAsIn}`;
  return `; about ${calls} more ${calls === 1 ? 'was' : 'were'} not started yet (estimated ${by})`;
}

function functionLines(entry: PlannedFunction, plan: RunPlan, style: Style): string[] {
  const { fn, usable, again, unresolved, denied, unjudged, notExecuted, forwarded, later, declared } = entry;
  const reused = usable - again - forwarded;
  const parts = [later === 0 ? `${reused} reused` : `${reused} reused (${later} of them if their arguments are the same)`];
  if (forwarded > 0) parts.push(style.yellow(`${forwarded} reused only if it forwards what it did`));
  if (again > 0) parts.push(style.yellow(`${again} again (${reasonsOf(entry, plan)})`));
  const open = unresolved - denied - unjudged;
  if (open > 0) parts.push(style.yellow(`${open} without a result${passedOverOf(entry, plan)}`));
  if (unjudged > 0) parts.push(receivedWords(unjudged));
  if (denied > 0) parts.push(style.yellow(`${denied} denied before`));
  if (notExecuted > 0) parts.push(style.yellow(`${notExecuted} not executed before, because of failed ones`));
  const lines = [`${style.bold(`@${fn}`)}: ${parts.join(', ')}`];
  if (!declared) lines.push('  the script does not declare it any more');
  const changes = entry.changes.slice(0, CHANGES_SHOWN).map(describeChange);
  const more = entry.changes.length - changes.length;
  if (changes.length > 0) {
    const effect = entry.stale > 0 ? `; ${counted(entry.stale, 'result')} from before ${entry.stale === 1 ? 'is' : 'are'} reused` : '';
    lines.push(`  edited: ${changes.join(', ')}${more > 0 ? ` and ${more} more` : ''}${effect}`);
  }
  if (entry.unknown.length > 0) lines.push(`  only the run will tell: ${entry.unknown.map((name) => `@${name}`).join(', ')}`);
  for (const { preview, why } of entry.examples) {
    const what = WHAT[why as keyof typeof WHAT] ?? 'again';
    lines.push(`  ${what}: ${preview === null ? '(no argument that can be shown)' : clip(oneLine(preview), PREVIEW_UNITS_MAX)}`);
  }
  const others = again + unresolved - entry.examples.length;
  if (others > 0) lines.push(`  and ${others} more`);
  return lines;
}

const WHAT = { unresolved: 'execute', denied: 'denied before', unjudged: 'guards judge' };

const REASONS: { readonly [R in WhyNotReused]: (plan: RunPlan) => string } = {
  invalidated: ({ resume }) => `--resume ${resume}`,
  reset: () => '--fresh',
  edited: ({ flags }) => `--changed ${flags.changed ?? 'ask'}`,
  expired: () => 'older than the ttl',
  incomplete: () => 'their checkpoint is not complete',
  manual: () => 'resume: manual',
  off: () => 'nothing is reused here',
  rejected: () => 'rejected',
  schema: () => 'they do not fit the schema',
  reply: () => 'the option reply does not fit them',
  simulated: () => 'they are simulated',
  'file gone': () => 'file gone: what they had written is missing, and reusing them would not restore it',
  outputs: () => 'their files changed since; --keep-files keeps what is there',
};

export function receivedWords(unjudged: number): string {
  return `${unjudged} received, ${unjudged === 1 ? 'its' : 'their'} guards judge ${unjudged === 1 ? 'it' : 'them'}`;
}

/** Names the results among those that are missing which came back, and which no guard can judge any more. */
function passedOverOf({ passedOver }: PlannedFunction, plan: RunPlan): string {
  const count = Object.values(passedOver).reduce((sum, each) => sum + each, 0);
  return count === 0 ? '' : ` (${count} of them received, and passed over: ${reasonsOf({ reasons: passedOver }, plan)})`;
}

function reasonsOf({ reasons }: Pick<PlannedFunction, 'reasons'>, plan: RunPlan): string {
  const found = Object.entries(reasons) as [WhyNotReused, number][];
  return found.map(([reason, count]) => `${found.length > 1 ? `${count} ` : ''}${REASONS[reason](plan)}`).join(', ');
}

export type Estimated = Pick<RunPlan, 'estimate' | 'lastRun' | 'comparedRuns' | 'savedUsd'>;

/** `open`: lines that say which calls are not counted. */
export function estimateLines({ estimate, lastRun, comparedRuns, savedUsd }: Estimated, open: readonly string[]): string[] {
  if (estimate === undefined) return [];
  const { calls, notStarted, isPart, durationMs, costUsd, unpriced, functions } = estimate;
  const cost = functions.every(isUnknown) ? 'cost unknown' : costOrDash({ costUsd, unpriced });
  const time = durationMs === null ? 'time unknown' : duration(durationMs);
  const rest = calls === 0 ? '' : `, ${time}, ${cost}`;
  const before = comparedRuns < 2 ? '' : comparedRuns === 2 ? ' and the run before it' : ` and the ${comparedRuns - 1} runs before it`;
  const saved = savedUsd === null ? [] : [`  the reused results save ${money(savedUsd)}`];
  return [
    `Estimate, if it makes the same calls as run ${lastRun}${before}${notStarted === 0 ? '' : ' and those it had not started'}: ${isPart && calls > 0 ? 'at least ' : ''}${counted(calls, 'call')}${rest}`,
    ...functions.map(priceLine),
    ...open,
    ...saved,
  ];
}

function notCounted({ estimate, isWhole, lastRun }: RunPlan): readonly string[] {
  if (estimate?.isPart !== true || lastRun === null) return [];
  return isWhole
    ? ['  more calls may follow: those that no run has made yet are not counted']
    : ['  no recorded run reached its end: calls that none has made yet are not counted'];
}

const isUnknown = ({ medianUsd }: FunctionEstimate): boolean => medianUsd === null;

function priceLine({ fn, calls, medianUsd, p95Usd }: FunctionEstimate): string {
  const price = medianUsd === null ? 'price unknown' : `median ${money(medianUsd)}, 95% at most ${money(p95Usd ?? medianUsd)}`;
  return `  @${fn}: ${counted(calls, 'call')}, ${price}`;
}

export function budgetLine({ estimate }: Pick<RunPlan, 'estimate'>, verdict: BudgetVerdict, style: Style): string {
  const untimed = estimate?.untimed ?? 0;
  const known = {
    calls: estimate?.calls ?? 0,
    unpriced: estimate?.functions.filter(isUnknown).map(({ fn }) => `@${fn}`) ?? [],
    untimed: untimed > 0 ? `the time of ${counted(untimed, 'call')}` : undefined,
    more:
      estimate?.isPart !== true
        ? ''
        : verdict.isWhole
          ? '; more calls may follow these'
          : '; no recorded run reached its end, so that more calls may follow these',
  };
  return renderBudgetVerdict(verdict, known, style);
}
