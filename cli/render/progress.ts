/**
 * Shows the progress of a run on the last line of a terminal.
 *
 * PROGRESS-1 the line is taken away before anything else is written and when the run ends: it is never part of the output.
 * PROGRESS-2 it never wraps: a line wider than the terminal could not be taken away again.
 * PROGRESS-3 it is drawn at most ten times a second, however often the run changes.
 * PROGRESS-4 it is drawn only where a line begins, never behind text of the script that has no line end yet.
 */
import type { LaneHold, RunSummary } from '../../src/api/reports/summary.js';
import { oneLine } from './one-line.js';
import { duration, money } from './units.js';

export interface Progress {
  /** The latest state of the run; it is kept until the next one. */
  readonly update: (summary: RunSummary) => void;
  /** Writes text of someone else to the same terminal. */
  readonly around: (write: (text: string) => void) => (text: string) => void;
  readonly stop: () => void;
}

export interface Screen {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly nowMs: () => number;
  /** Milliseconds since 1970. */
  readonly todayMs: () => number;
}

const DRAW_EVERY_MS = 100;
/** The clock moves also while nothing changes. */
const TICK_EVERY_MS = 1000;
/** The rate is that of the last moments: hits at the start say nothing of the calls that follow. */
const RATE_WINDOW_MS = 20_000;
const ERASE = '\r\u001B[K';

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

export function startProgress({ write, columns, nowMs, todayMs }: Screen): Progress {
  const startedMs = nowMs();
  const samples: Sample[] = [];
  let summary: RunSummary | undefined;
  let drawnMs = -Infinity;
  let isDrawn = false;
  let atLineStart = true;

  const erase = (): void => {
    if (isDrawn) write(ERASE);
    isDrawn = false;
  };
  const draw = (): void => {
    const now = nowMs();
    if (summary === undefined || !hasCalls(summary) || !atLineStart || now - drawnMs < DRAW_EVERY_MS) return;
    drawnMs = now;
    sample(samples, { atMs: now, done: doneOf(summary) });
    const moment = { elapsedMs: now - startedMs, perSecond: rateOf(samples), todayMs: todayMs() };
    write(`${ERASE}${progressLine(summary, moment, columns())}`);
    isDrawn = true;
  };
  const ticking = setInterval(draw, TICK_EVERY_MS).unref();

  return {
    update: (latest) => {
      summary = latest;
      draw();
    },
    around: (inner) => (text) => {
      if (text === '') return;
      erase();
      inner(text);
      atLineStart = text.endsWith('\n');
    },
    stop: () => {
      clearInterval(ticking);
      erase();
      summary = undefined;
    },
  };
}

interface Moment {
  readonly elapsedMs: number;
  readonly perSecond: number | undefined;
  /** Milliseconds since 1970. */
  readonly todayMs: number;
}

/**
 * `37/120 · 31 executed · 6 reused · 2 retries · $1.37 · 20 in flight · claude held until 18:30:05 · 2.1/s · 40.0s left`: parts that exceed
 * the width are left out, from the end.
 */
export function progressLine(summary: RunSummary, { elapsedMs, perSecond, todayMs }: Moment, columns: number): string {
  const loop = longestLoop(summary);
  const { executed, reused, failed, retries, costUsd, inFlight, holds } = summary;
  const left = loop === undefined || !perSecond ? undefined : ((loop.total - loop.done) / perSecond) * 1000;
  const parts = [
    loop === undefined ? undefined : `${loop.done}/${loop.total}`,
    `${executed} executed`,
    reused > 0 ? `${reused} reused` : undefined,
    failed > 0 ? `${failed} failed` : undefined,
    retries > 0 ? `${retries} ${retries === 1 ? 'retry' : 'retries'}` : undefined,
    costUsd === null ? undefined : money(costUsd),
    inFlight.size > 0 ? `${inFlight.size} in flight` : undefined,
    ...[...holds.values()].map((hold) => holdText(hold, todayMs)),
    perSecond ? `${perSecond.toFixed(1)}/s` : undefined,
    left === undefined ? duration(elapsedMs) : `${duration(left)} left`,
  ].filter((part) => part !== undefined);
  return joinWithin(parts, columns - 1);
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

function joinWithin(parts: readonly string[], width: number): string {
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line} · ${part}`;
    if (longer.length > width) break;
    line = longer;
  }
  return line;
}

/** A script without llm calls has no progress worth a line. */
function hasCalls({ executed, reused, failed, inFlight }: RunSummary): boolean {
  return executed + reused + failed + inFlight.size > 0;
}

/** The one that takes longest: loops inside it begin and end all the time. */
function longestLoop({ loops }: RunSummary): { readonly done: number; readonly total: number } | undefined {
  let longest: { readonly done: number; readonly total: number } | undefined;
  for (const loop of loops.values()) if (longest === undefined || loop.total > longest.total) longest = loop;
  return longest;
}

function doneOf(summary: RunSummary): number {
  return longestLoop(summary)?.done ?? summary.executed;
}

function sample(samples: Sample[], latest: Sample): void {
  // Another loop counts anew.
  if ((samples.at(-1)?.done ?? 0) > latest.done) samples.length = 0;
  samples.push(latest);
  while (samples.length > 2 && (samples[1]?.atMs ?? latest.atMs) < latest.atMs - RATE_WINDOW_MS) samples.shift();
}

/** Undefined while there are too few samples. */
function rateOf(samples: readonly Sample[]): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs - first.atMs < TICK_EVERY_MS || last.done === first.done) return undefined;
  return ((last.done - first.done) / (last.atMs - first.atMs)) * 1000;
}
