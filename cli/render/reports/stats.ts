/** Renders `mlld journal stats`: all runs, function by function, day by day. */
import type { FunctionFigures, RunStats } from '../../../src/api/reports/stats.js';
import { counted } from './garbage-collection.js';
import { COUNT_COLUMNS, csvLine, USAGE_COLUMNS } from '../csv.js';
import { wrapAll } from '../wrap.js';
import type { Style } from '../style.js';
import { figures, table } from '../table.js';
import { costOrDash, durationOrDash, moneyOrDash } from '../units.js';

const DAYS_SHOWN = 14;
const FUNCTIONS_SHOWN = 30;

export function renderStats({ total, statuses, functions, days }: RunStats, style: Style): string {
  if (total.runs === 0) return 'No recorded runs.\n';
  const ended = Object.entries(statuses).map(([status, count]) => `${count} ${status}`);
  const lines = [
    style.bold(`${counted(total.runs, 'run')}: ${ended.join(', ')}`),
    `${counted(total.executed, 'call')} executed, ${total.reused} reused (${percent(total.hitRate)} hits), ${total.failed} failed; cost ${costOrDash(total)}, saved ${moneyOrDash(total.savedUsd)}`,
    `a complete run takes ${durationOrDash(total.medianMs)} (median), the slowest took ${durationOrDash(total.slowestMs)}`,
  ];
  if (functions.length > 0)
    lines.push(
      '',
      ...table(
        FUNCTION_COLUMNS,
        functions
          .slice(0, FUNCTIONS_SHOWN)
          .map((each) => [
            `@${each.fn}`,
            String(each.executed),
            String(each.reused),
            { text: String(each.failed), style: each.failed > 0 ? style.red : (text: string): string => text },
            percent(each.hitRate),
            durationOrDash(each.medianMs),
            durationOrDash(each.p90Ms),
            costOrDash(each),
          ]),
        style,
      ),
      '',
      ...table(PRICE_COLUMNS, functions.slice(0, FUNCTIONS_SHOWN).map(priceRow), style),
      ...functions.flatMap(classesLine),
    );
  if (functions.length > FUNCTIONS_SHOWN) lines.push(`and ${functions.length - FUNCTIONS_SHOWN} more functions`);
  lines.push(
    '',
    ...table(
      DAY_COLUMNS,
      days
        .slice(-DAYS_SHOWN)
        .map((each) => [
          each.day,
          String(each.runs),
          String(each.completed),
          String(each.executed),
          String(each.reused),
          String(each.failed),
          percent(each.hitRate),
          durationOrDash(each.medianMs),
          costOrDash(each),
        ]),
      style,
    ),
  );
  return `${wrapAll(lines, style).join('\n')}\n`;
}

const FUNCTION_COLUMNS = [{ title: 'FUNCTION' }, ...figures('EXECUTED', 'REUSED', 'FAILED', 'HITS', 'MEDIAN', '9 OF 10', 'COST')];
const PRICE_COLUMNS = [{ title: 'FUNCTION' }, ...figures('ATTEMPTS', 'RETRIES', 'TOKENS IN', 'OUT', 'A RESULT', '95%', 'SAVED')];
const DAY_COLUMNS = [{ title: 'DAY' }, ...figures('RUNS', 'COMPLETED', 'EXECUTED', 'REUSED', 'FAILED', 'HITS', 'TOOK', 'COST')];

function priceRow(each: FunctionFigures): readonly string[] {
  const { fn, attempts, retries, inputTokens, outputTokens, medianResultUsd, p95ResultUsd, savedUsd } = each;
  return [
    `@${fn}`,
    String(attempts),
    String(retries),
    inputTokens?.toString() ?? '-',
    outputTokens?.toString() ?? '-',
    ...[medianResultUsd, p95ResultUsd, savedUsd].map(moneyOrDash),
  ];
}

/** The classes in which calls of a function failed, the most frequent first. */
function classesLine({ fn, failedByClass }: FunctionFigures): string[] {
  const classes = Object.entries(failedByClass).toSorted(([, one], [, other]) => other - one);
  return classes.length === 0 ? [] : [`@${fn} failed: ${classes.map(([cause, count]) => `${count} ${cause}`).join(', ')}`];
}

function percent(part: number | null): string {
  return part === null ? '-' : `${Math.round(part * 100)}%`;
}

const CSV_COLUMNS = [
  'fn',
  ...COUNT_COLUMNS,
  'hitRate',
  ...USAGE_COLUMNS,
  'medianResultUsd',
  'p95ResultUsd',
  'medianMs',
  'p90Ms',
] as const satisfies readonly (keyof FunctionFigures)[];

/** A row for each function; a column has the name of the member of `--json` that it holds. */
export function functionsCsv({ functions }: RunStats): string {
  return csvLine(CSV_COLUMNS) + functions.map((each) => csvLine(CSV_COLUMNS.map((column) => each[column] ?? undefined))).join('');
}
