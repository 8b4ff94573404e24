/** Renders a moment of a run: the lines of a terminal, the one line of a log, or JSON. */
import { wholeCharacters } from '../../../grammar/columns.js';
import type { LaneHold } from '../../../src/api/reports/summary.js';
import { clip, oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { costOrDash, duration } from '../units.js';
import { widthOf } from '../wrap.js';
import type { Moment } from './moment.js';

const PREVIEW_UNITS_MAX = 40;
const BAR_COLUMNS_MAX = 30;
/** A bar that is narrower than this shows nothing that the numbers don't. */
const BAR_COLUMNS_MIN = 8;
const [FULL, EMPTY] = ['█', '░'];

/**
 * Returns the lines that stay on a terminal while the run continues: bar and pace, counts, and what is in flight. Each is narrower than
 * `columns`: parts that exceed them are left out, from the end.
 */
export function progressLines(moment: Moment, columns: number, { red, dim }: Style): readonly string[] {
  const width = columns - 1;
  const pace = joinWithin([phaseText(moment), paceText(moment), timeText(moment)], width);
  const bar = barOf(moment, Math.min(BAR_COLUMNS_MAX, width - widthOf(pace) - 1));
  const counts = joinWithin(
    [
      `${moment.executed} executed`,
      moment.failed > 0 ? red(`${moment.failed} failed`) : undefined,
      ...restOfCounts(moment),
      moment.phase ? undefined : paceText(moment),
      moment.phase ? undefined : timeText(moment),
    ],
    width,
  );
  const waiting = joinWithin(
    [
      ...moment.questions.map(questionText),
      atWorkersText(moment),
      inFlightText(moment),
      oldestText(moment),
      ...moment.holds.map((hold) => holdText(hold, moment.todayMs)),
    ],
    width,
  );
  return [...(moment.phase ? [bar === '' ? pace : `${bar} ${pace}`] : []), counts, dim(waiting)].filter((line) => widthOf(line) > 0);
}

/** `37/120 · 31 executed · 6 reused · 2 retries · $1.37 · 20 in flight · oldest @review(Ticket 7) 12s · 2.1/s · 40.0s left` */
export function progressLine(moment: Moment): string {
  const parts = [
    phaseText(moment),
    `${moment.executed} executed`,
    moment.failed > 0 ? `${moment.failed} failed` : undefined,
    ...restOfCounts(moment),
    ...moment.questions.map(questionText),
    atWorkersText(moment),
    inFlightText(moment),
    oldestText(moment),
    ...moment.holds.map((hold) => holdText(hold, moment.todayMs)),
    paceText(moment),
    timeText(moment),
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** Returns the object of `--progress=json`: what the lines show, as numbers. */
export function progressObject({ phase, perSecond, leftMs, oldest, holds, questions, atWorkers, ...counts }: Moment): object {
  return {
    type: 'progress',
    elapsedMs: Math.round(counts.elapsedMs),
    done: phase?.done ?? null,
    total: phase?.total ?? null,
    perSecond: perSecond ?? null,
    leftMs: leftMs ?? null,
    executed: counts.executed,
    reused: counts.reused,
    failed: counts.failed,
    retries: counts.retries,
    costUsd: counts.costUsd,
    unpriced: counts.unpriced,
    inFlight: counts.inFlight,
    atWorkers: atWorkers ?? null,
    oldest: oldest === undefined ? null : { fn: oldest.fn, preview: oldest.preview ?? null, durationMs: oldest.durationMs },
    holds: holds.map(({ lane, stopped, untilMs }) => ({ lane, stopped: stopped ?? null, untilMs: untilMs ?? null })),
    questions: questions.map(({ id, node, text, waitedMs }) => ({ id, node, text, waitedMs: Math.round(waitedMs) })),
  };
}

function phaseText({ phase }: Moment): string | undefined {
  return phase && `${phase.done}/${phase.total}`;
}

function paceText({ perSecond }: Moment): string | undefined {
  if (!perSecond) return undefined;
  return perSecond < 0.1 ? `${(perSecond * 60).toFixed(1)}/min` : `${perSecond.toFixed(1)}/s`;
}

function timeText({ leftMs, elapsedMs }: Moment): string {
  return leftMs === undefined ? duration(elapsedMs) : `${duration(leftMs)} left`;
}

function restOfCounts({ reused, retries, costUsd, unpriced }: Moment): readonly (string | undefined)[] {
  return [
    reused > 0 ? `${reused} reused` : undefined,
    retries > 0 ? `${retries} ${retries === 1 ? 'retry' : 'retries'}` : undefined,
    costUsd === null ? undefined : costOrDash({ costUsd, unpriced }),
  ];
}

/** `24 at 3 workers` */
function atWorkersText({ atWorkers }: Moment): string | undefined {
  return atWorkers && `${atWorkers.calls} at ${atWorkers.workers} ${atWorkers.workers === 1 ? 'worker' : 'workers'}`;
}

function inFlightText({ inFlight }: Moment): string | undefined {
  return inFlight > 0 ? `${inFlight} in flight` : undefined;
}

function oldestText({ oldest }: Moment): string | undefined {
  if (oldest === undefined) return undefined;
  const { fn, preview, durationMs } = oldest;
  const shown = preview === undefined ? '' : `(${oneLine(clip(preview, PREVIEW_UNITS_MAX))})`;
  return `oldest @${oneLine(fn)}${shown} ${duration(durationMs)}`;
}

/** `approve has waited 5.0s for an answer to q1`: the question itself was printed when it was asked. */
function questionText({ id, node, waitedMs }: Moment['questions'][number]): string {
  return `${oneLine(node)} has waited ${duration(waitedMs)} for an answer to ${id}`;
}

/** Undefined for a hold that is over. */
function holdText({ lane, stopped, untilMs }: LaneHold, todayMs: number): string | undefined {
  const name = lane === '' ? '' : `${oneLine(lane)} `;
  const until = untilMs === undefined || untilMs <= todayMs ? '' : ` until ${clockTime(untilMs, todayMs)}`;
  if (stopped !== undefined) return `${name}stopped (${stopped})${until}`;
  return until === '' ? undefined : `${name}held${until}`;
}

/** The time of this machine's clock, with the day where it is another one. */
function clockTime(ms: number, todayMs: number): string {
  const date = new Date(ms);
  const two = (number: number): string => String(number).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const isToday = new Date(todayMs).toDateString() === date.toDateString();
  return isToday ? time : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

function barOf({ phase }: Moment, columns: number): string {
  if (phase === undefined || columns < BAR_COLUMNS_MIN) return '';
  const part = phase.total === 0 ? 1 : Math.min(1, phase.done / phase.total);
  const full = Math.floor(part * columns);
  return FULL.repeat(full) + EMPTY.repeat(columns - full);
}

/** A first part that is too wide is cut. */
function joinWithin(parts: readonly (string | undefined)[], width: number): string {
  let line = '';
  for (const part of parts) {
    if (part === undefined) continue;
    const longer = line === '' ? part : `${line} · ${part}`;
    if (widthOf(longer) > width) return line === '' ? wholeCharacters(part, Math.max(0, Math.floor(width / 2))) : line;
    line = longer;
  }
  return line;
}
