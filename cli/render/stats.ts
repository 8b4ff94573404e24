/** `mlld journal stats` as text: all runs, function by function, day by day. */
import type { Figures, RunStats } from '../../replay/stats.js';
import type { Paint } from './paint.js';
import { tableLines } from './table.js';
import { duration, money } from './units.js';

const DAYS_SHOWN = 14;
const FUNCTIONS_SHOWN = 30;

export function renderStats({ total, statuses, functions, days }: RunStats, paint: Paint): string {
  if (total.runs === 0) return 'No recorded runs.\n';
  const ended = Object.entries(statuses).map(([status, count]) => `${count} ${status}`);
  const lines = [
    paint.bold(`${total.runs} runs: ${ended.join(', ')}`),
    `${total.executed} calls executed, ${total.served} served (${percent(total.hitRate)} hits), ${total.failed} failed; cost ${cost(total)}`,
    `a complete run takes ${took(total.medianMs)} (median), the slowest took ${took(total.slowestMs)}`,
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
            String(each.served),
            { text: String(each.failed), paint: each.failed > 0 ? paint.red : (text: string): string => text },
            percent(each.hitRate),
            took(each.medianMs),
            took(each.p90Ms),
            cost(each),
          ]),
        paint,
      ),
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
          String(each.served),
          String(each.failed),
          percent(each.hitRate),
          took(each.medianMs),
          cost(each),
        ]),
      paint,
    ),
  );
  return `${lines.join('\n')}\n`;
}

const FUNCTION_COLUMNS = [
  { title: 'FUNCTION' },
  { title: 'EXECUTED', align: 'right' },
  { title: 'REUSED', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'HITS', align: 'right' },
  { title: 'MEDIAN', align: 'right' },
  { title: '9 OF 10', align: 'right' },
  { title: 'COST', align: 'right' },
] as const;

const DAY_COLUMNS = [
  { title: 'DAY' },
  { title: 'RUNS', align: 'right' },
  { title: 'COMPLETED', align: 'right' },
  { title: 'EXECUTED', align: 'right' },
  { title: 'REUSED', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'HITS', align: 'right' },
  { title: 'TOOK', align: 'right' },
  { title: 'COST', align: 'right' },
] as const;

function table(columns: Parameters<typeof tableLines>[0], rows: Parameters<typeof tableLines>[1], paint: Paint): readonly string[] {
  const [titles = '', ...lines] = tableLines(columns, rows);
  return [paint.bold(titles), ...lines];
}

function percent(part: number | null): string {
  return part === null ? '-' : `${Math.round(part * 100)}%`;
}

function took(ms: number | null): string {
  return ms === null ? '-' : duration(ms);
}

function cost({ costUsd }: Pick<Figures, 'costUsd'>): string {
  return costUsd === null ? '-' : money(costUsd);
}
