/** Prints a replay as text and as JSON. */
import {
  type Divergence,
  type ReplayReport,
  toJson,
  indentedJson,
  showText,
  dataOf,
  type Value,
} from '../../../src/api/commands/replay.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';

const PREVIEW_UNITS = 100;
const PREVIEW_UNITS_MIN = 20;
/** Longest text of a request in a divergence. */
const REQUEST_UNITS = 2000;

export function renderReplay({ ref, verdict, status, effects, divergences, stopped, error }: ReplayReport, style: Style): string {
  const count = effects === 1 ? '1 recorded effect' : `${effects} recorded effects`;
  switch (verdict) {
    case 'same': {
      const ended = status === 'completed' || error === undefined ? '' : `, and failed with the same error: ${(error as Error).message}`;
      return `${style.green('same')}: run ${ref.run} replayed with ${count}${ended}\n`;
    }
    case 'cut':
      return `${style.green('same')} up to the end of the record: run ${ref.run} ${status ?? 'ended without recording why'}; ${count}\n`;
    case 'stopped':
      return `stopped before event ${stopped?.seq}, in ${oneLine(stopped?.op ?? '')}\n`;
    case 'diverged':
      return divergences.map((divergence) => renderDivergence(divergence, style)).join('');
  }
}

const REASONS: { readonly [R in Divergence['reason']]: string } = {
  changed: 'does something else than in the record',
  new: 'does what the record does not have',
  missing: 'does not do what the record has',
  ending: 'ended otherwise',
  'not-recordable': 'needs functions of a Node module: these are not recorded',
  unreadable: 'has an outcome that the journal no longer holds in clear',
};

function renderDivergence({ reason, op, kind, expected, actual }: Divergence, style: Style): string {
  const lines = [`${style.red('diverged')}: ${oneLine(op)} ${REASONS[reason]} (${oneLine(kind)})\n`];
  if (expected) lines.push(`  expected${expected.seq === undefined ? '' : ` (event ${expected.seq})`}: ${requestOf(expected)}\n`);
  if (actual) lines.push(`  actual: ${requestOf(actual)}\n`);
  return lines.join('');
}

function requestOf({ subject, request }: NonNullable<Divergence['actual']>): string {
  if (request === undefined) return oneLine(subject);
  return `${oneLine(subject)} ${clip(JSON.stringify(toJson(request as Value)), REQUEST_UNITS)}`;
}

/** A line for each, no longer than a terminal of so many columns is wide. */
export function renderVariables(variables: NonNullable<ReplayReport['stopped']>['variables'], columns: number | undefined): string {
  return variables
    .map(({ name, value }) => {
      const head = `@${name} = `;
      const room = columns === undefined ? PREVIEW_UNITS : Math.min(PREVIEW_UNITS, Math.max(PREVIEW_UNITS_MIN, columns - head.length));
      return `${head}${clip(value === undefined ? 'undefined' : JSON.stringify(toJson(value)), room)}\n`;
    })
    .join('');
}

/** As `show` prints it, structures indented. */
export function renderValue(value: Value): string {
  const data = dataOf(value);
  return typeof data === 'object' && data !== null ? indentedJson(value) : showText(value);
}

/** The documented shape of `--json`. */
export function replayJson({ ref, stopped, error, walk, ...report }: ReplayReport): object {
  return {
    run: ref.run,
    workflow: ref.workflow,
    ...report,
    status: report.status ?? null,
    ...(walk ? { pipeline: walk.pipeline, node_history: walk.history, context: walk.context } : {}),
    ...(error === undefined ? {} : { error: { code: (error as { code?: string }).code, message: (error as Error).message } }),
    ...(stopped
      ? {
          stopped: {
            seq: stopped.seq,
            op: stopped.op,
            variables: Object.fromEntries(stopped.variables.map(({ name, value }) => [name, toJson(value)])),
          },
        }
      : {}),
  };
}
