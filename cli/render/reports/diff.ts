/** Renders `mlld journal diff`: the totals, then the differences, call by call. */
import { doPart, type DiffCall, type DiffPair, type DiffSide, type ForkPointReport, type RunDiff } from '../../../src/api/reports/diff.js';
import type { DiffLines } from '../../../replay/reports/diff/text-diff.js';
import { describeDifference } from './explain.js';
import { wrapAll } from '../wrap.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { nodesDiffLines, nodesForkLines } from './diff-nodes.js';
import { figures, table } from '../table.js';
import { costOrDash, duration } from '../units.js';

const PREVIEW_UNITS_MAX = 60;
const CALLS_SHOWN = 50;
const WORDS_SHOWN = 4;
const FILES_SHOWN = 20;

export function renderDiff(diff: RunDiff, style: Style): string {
  const { same, moved, changed, onlyLeft, onlyRight } = diff.calls;
  const lines = [
    ...totalsOf(diff, style),
    '',
    ...(diff.nodes ? [...nodesDiffLines(diff.nodes, style), ''] : []),
    style.bold(
      `${counted(same)} the same${moved === 0 ? '' : ` (${moved} at another place)`}, ${changed.length} changed, ${onlyLeft.length} only left, ${onlyRight.length} only right`,
    ),
    ...changed.slice(0, CALLS_SHOWN).flatMap((pair) => pairLines(pair, style)),
    ...more(changed),
    ...onlyLeft.slice(0, CALLS_SHOWN).map((call) => style.red(`- ${described(call)}`)),
    ...more(onlyLeft),
    ...onlyRight.slice(0, CALLS_SHOWN).map((call) => style.green(`+ ${described(call)}`)),
    ...more(onlyRight),
    ...diff.sources.flatMap(({ path, leftPath, versions, lines: changes }) => [
      '',
      style.bold(`source ${leftPath === undefined ? '' : `${oneLine(leftPath)}, then `}${oneLine(path)}${versionsOf(versions)}`),
      ...diffLines(changes, style),
    ]),
  ];
  if (!diff.output.same) {
    const shown = diff.output.lines.length === 0 ? ['  differs after the part that is kept'] : diffLines(diff.output.lines, style);
    lines.push('', style.bold('output'), ...shown);
  }
  if (diff.files.length > 0) lines.push('', style.bold('files written'));
  for (const { path, left, right } of diff.files.slice(0, FILES_SHOWN)) {
    lines.push(`  ${oneLine(path)}: ${left === undefined ? 'only right' : right === undefined ? 'only left' : 'different content'}`);
  }
  if (diff.files.length > FILES_SHOWN) lines.push(`  and ${diff.files.length - FILES_SHOWN} more`);
  return `${wrapAll(lines, style).join('\n')}\n`;
}

/** ` (1.0.0, then 1.1.0)` */
function versionsOf(versions: RunDiff['sources'][number]['versions']): string {
  if (versions === undefined || versions[0] === versions[1]) return '';
  const [left, right] = versions.map((version) => (version === null ? 'no version' : oneLine(version)));
  return ` (${left}, then ${right})`;
}

export function renderForkPoint(report: ForkPointReport, style: Style): string {
  const { common, last, nextLeft, nextRight, ancestor, nodes } = report;
  const lines = [...totalsOf(report, style), '', ...(nodes ? [...nodesForkLines(nodes, style), ''] : [])];
  if (common === 0) lines.push(nextLeft === null && nextRight === null ? 'No calls.' : 'They part at their first call.');
  else {
    lines.push(`${counted(common)} the same, with the same results${last === null ? '' : `; the last: ${described(last)}`}`);
    if (ancestor) {
      lines.push(
        `  of these results ${ancestor.results} from run ${ancestor.run}${ancestor.workflow === undefined ? '' : ` of ${ancestor.workflow}`}, up to its event ${ancestor.seq}`,
      );
    }
  }
  if (!doPart(report)) lines.push('They do not part.');
  if (nextLeft !== null || nextRight !== null)
    lines.push(
      style.bold('Then'),
      style.red(`- ${nextLeft === null ? 'nothing more' : described(nextLeft)}`),
      style.green(`+ ${nextRight === null ? 'nothing more' : described(nextRight)}`),
    );
  return `${wrapAll(lines, style).join('\n')}\n`;
}

function totalsOf({ left, right }: { readonly left: DiffSide; readonly right: DiffSide }, style: Style): readonly string[] {
  const columns = [
    { title: '' },
    { title: 'RUN' },
    { title: 'STATUS' },
    ...figures('CALLS', 'EXECUTED', 'REUSED', 'FAILED', 'TOOK', 'IN CALLS', 'COST'),
  ];
  const row = (name: string, { run, status, calls, executed, reused, failed, durationMs, callsMs, ...costs }: DiffSide): string[] => [
    name,
    run,
    status,
    String(calls),
    String(executed),
    String(reused),
    String(failed),
    duration(durationMs),
    duration(callsMs),
    costOrDash(costs),
  ];
  return table(columns, [row('left', left), row('right', right)], style);
}

function pairLines({ left, right, changes, arguments: args, result, words = [] }: DiffPair, style: Style): string[] {
  const where = left.op === right.op ? '' : ` -> ${right.op}`;
  const outcomes = changes.includes('outcome') ? ` (${outcomeOf(left)} -> ${outcomeOf(right)})` : '';
  const lines = [`${style.yellow('~')} ${described(left)}${where}: ${changes.join(', ')}${outcomes}`];
  for (const difference of words.slice(0, WORDS_SHOWN)) lines.push(`    ${oneLine(describeDifference(difference))}`);
  if (words.length > WORDS_SHOWN) lines.push(`    and ${words.length - WORDS_SHOWN} more`);
  for (const { number, lines: changed } of args ?? [])
    if (hasContext(changed)) lines.push(`    argument ${number}`, ...diffLines(changed, style, '    '));
  if (args === undefined && changes.includes('arguments')) lines.push(`    was ${preview(left)}, is ${preview(right)}`);
  if (result !== undefined && hasContext(result)) lines.push('    result', ...diffLines(result, style, '    '));
  return lines;
}

/** Returns false for a text of one line, about which the words say all. */
function hasContext(lines: DiffLines): boolean {
  return lines.filter((line) => !line.startsWith('@')).length > 2;
}

function diffLines(lines: DiffLines, style: Style, indent = ''): string[] {
  return lines.map((line) => {
    const text = `${indent}  ${oneLine(line)}`;
    if (line.startsWith('+')) return style.green(text);
    if (line.startsWith('-')) return style.red(text);
    return style.dim(text);
  });
}

function counted(calls: number): string {
  return calls === 1 ? '1 call' : `${calls} calls`;
}

function outcomeOf({ outcome, class: cause }: DiffCall): string {
  return cause === null || cause === 'upstream' ? outcome : `${outcome}: ${cause}`;
}

function described(call: DiffCall): string {
  return `@${call.fn}(${preview(call)})${call.phase === undefined ? '' : ` [${oneLine(call.phase)}]`} ${call.op}`;
}

function preview(call: DiffCall): string {
  return call.preview === undefined ? '' : clip(oneLine(call.preview), PREVIEW_UNITS_MAX);
}

function more(calls: readonly unknown[]): string[] {
  return calls.length > CALLS_SHOWN ? [`  and ${calls.length - CALLS_SHOWN} more`] : [];
}
