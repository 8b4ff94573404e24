/** `mlld journal diff` as text: the totals, then what differs, call by call. */
import {
  doPart,
  type DiffCall,
  type DiffPair,
  type DiffSide,
  type ForkPointReport,
  type RunDiff,
} from '../../../replay/reports/diff/diff-run.js';
import type { DiffLines } from '../../../replay/reports/diff/text-diff.js';
import { fitAll } from '../fit.js';
import { clip, oneLine } from '../one-line.js';
import type { Paint } from '../paint.js';
import { nodesDiffLines, nodesForkLines } from './diff-nodes.js';
import { figures, table } from '../table.js';
import { duration, moneyOrDash } from '../units.js';

const PREVIEW_UNITS_MAX = 60;
const CALLS_SHOWN = 50;
const FILES_SHOWN = 20;

export function renderDiff(diff: RunDiff, paint: Paint): string {
  const { same, moved, changed, onlyLeft, onlyRight } = diff.calls;
  const lines = [
    ...totalsOf(diff, paint),
    '',
    ...(diff.nodes ? [...nodesDiffLines(diff.nodes, paint), ''] : []),
    paint.bold(
      `${counted(same)} the same${moved === 0 ? '' : ` (${moved} at another place)`}, ${changed.length} changed, ${onlyLeft.length} only left, ${onlyRight.length} only right`,
    ),
    ...changed.slice(0, CALLS_SHOWN).flatMap((pair) => pairLines(pair, paint)),
    ...more(changed),
    ...onlyLeft.slice(0, CALLS_SHOWN).map((call) => paint.red(`- ${described(call)}`)),
    ...more(onlyLeft),
    ...onlyRight.slice(0, CALLS_SHOWN).map((call) => paint.green(`+ ${described(call)}`)),
    ...more(onlyRight),
    ...diff.sources.flatMap(({ path, lines: changes }) => ['', paint.bold(`source ${oneLine(path)}`), ...diffLines(changes, paint)]),
  ];
  if (!diff.output.same) {
    const shown = diff.output.lines.length === 0 ? ['  differs behind the part that is kept'] : diffLines(diff.output.lines, paint);
    lines.push('', paint.bold('output'), ...shown);
  }
  if (diff.files.length > 0) lines.push('', paint.bold('files written'));
  for (const { path, left, right } of diff.files.slice(0, FILES_SHOWN)) {
    lines.push(`  ${oneLine(path)}: ${left === undefined ? 'only right' : right === undefined ? 'only left' : 'another content'}`);
  }
  if (diff.files.length > FILES_SHOWN) lines.push(`  and ${diff.files.length - FILES_SHOWN} more`);
  return `${fitAll(lines, paint).join('\n')}\n`;
}

export function renderForkPoint(report: ForkPointReport, paint: Paint): string {
  const { common, last, nextLeft, nextRight, ancestor, nodes } = report;
  const lines = [...totalsOf(report, paint), '', ...(nodes ? [...nodesForkLines(nodes, paint), ''] : [])];
  if (common === 0) lines.push(nextLeft === null && nextRight === null ? 'No calls.' : 'They part at their first call.');
  else {
    lines.push(`${counted(common)} the same, with the same answers${last === null ? '' : `; the last: ${described(last)}`}`);
    if (ancestor) {
      lines.push(
        `  of these answers ${ancestor.answers} from run ${ancestor.run}${ancestor.workflow === undefined ? '' : ` of ${ancestor.workflow}`}, up to its event ${ancestor.seq}`,
      );
    }
  }
  if (!doPart(report)) lines.push('They never part.');
  if (nextLeft !== null || nextRight !== null)
    lines.push(
      paint.bold('Then'),
      paint.red(`- ${nextLeft === null ? 'nothing more' : described(nextLeft)}`),
      paint.green(`+ ${nextRight === null ? 'nothing more' : described(nextRight)}`),
    );
  return `${fitAll(lines, paint).join('\n')}\n`;
}

function totalsOf({ left, right }: { readonly left: DiffSide; readonly right: DiffSide }, paint: Paint): readonly string[] {
  const columns = [
    { title: '' },
    { title: 'RUN' },
    { title: 'STATUS' },
    ...figures('CALLS', 'EXECUTED', 'REUSED', 'FAILED', 'TOOK', 'IN CALLS', 'COST'),
  ];
  const row = (name: string, { run, status, calls, executed, reused, failed, elapsedMs, callsMs, costUsd }: DiffSide): string[] => [
    name,
    run,
    status,
    String(calls),
    String(executed),
    String(reused),
    String(failed),
    duration(elapsedMs),
    duration(callsMs),
    moneyOrDash(costUsd),
  ];
  return table(columns, [row('left', left), row('right', right)], paint);
}

function pairLines({ left, right, changes, arguments: args, result }: DiffPair, paint: Paint): string[] {
  const where = left.op === right.op ? '' : ` -> ${right.op}`;
  const outcomes = changes.includes('outcome') ? ` (${left.outcome} -> ${right.outcome})` : '';
  const lines = [`${paint.yellow('~')} ${described(left)}${where}: ${changes.join(', ')}${outcomes}`];
  for (const { number, lines: changed } of args ?? []) lines.push(`    argument ${number}`, ...diffLines(changed, paint, '    '));
  if (args === undefined && changes.includes('arguments')) lines.push(`    was ${preview(left)}, is ${preview(right)}`);
  if (result !== undefined && result.length > 0) lines.push('    result', ...diffLines(result, paint, '    '));
  return lines;
}

function diffLines(lines: DiffLines, paint: Paint, indent = ''): string[] {
  return lines.map((line) => {
    const text = `${indent}  ${oneLine(line)}`;
    if (line.startsWith('+')) return paint.green(text);
    if (line.startsWith('-')) return paint.red(text);
    return paint.dim(text);
  });
}

function counted(calls: number): string {
  return calls === 1 ? '1 call' : `${calls} calls`;
}

function described(call: DiffCall): string {
  return `@${call.fn}(${preview(call)}) ${call.op}`;
}

function preview(call: DiffCall): string {
  return call.preview === undefined ? '' : clip(oneLine(call.preview), PREVIEW_UNITS_MAX);
}

function more(calls: readonly unknown[]): string[] {
  return calls.length > CALLS_SHOWN ? [`  and ${calls.length - CALLS_SHOWN} more`] : [];
}
