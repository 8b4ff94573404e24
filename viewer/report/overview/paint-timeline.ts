/** Paints the timeline, and says what is where on it. */
import { duration, money } from '../../../cli/render/units.js';
import type { Model, SpanState } from '../model/page-model.js';
import { ticksBetween } from '../model/ticks.js';
import { areCallsDrawn, binsOf, isFailing, type Bin, type Track } from '../model/tracks.js';
import { number, stateWords } from '../model/verdict-words.js';

const AXIS = 26;
const TITLE = 20;
const GAP = 8;
const BAND = 56;
const LANE = 14;
const LANES_HEIGHT_MAX = 260;
/** Pixels of a part of a band. */
const BIN = 3;
/** Pixels between two ticks, at least. */
const TICK = 84;

export interface Picture {
  timeAt(x: number): number;
  /** Describes the call or the part of a band at this point, in lines for a tooltip. */
  linesAt(x: number, y: number): readonly string[];
  hitAt(x: number, y: number): { readonly kind: 'call'; readonly span: number } | { readonly kind: 'band' } | undefined;
}

interface Row {
  readonly track: Track;
  readonly top: number;
  readonly height: number;
  /** Present for a band. */
  readonly bins?: readonly Bin[];
  readonly laneHeight: number;
}

export function paint(
  canvas: HTMLCanvasElement,
  model: Model,
  tracks: readonly Track[],
  { from, to }: { readonly from: number; readonly to: number },
): Picture {
  const width = Math.max(canvas.clientWidth, 1);
  let bottom = AXIS;
  const rows = tracks.map((track): Row => {
    const top = bottom + TITLE;
    const isDrawn = areCallsDrawn(model, track, { from, to, width });
    const laneHeight = Math.max(4, Math.min(LANE, LANES_HEIGHT_MAX / track.laneCount));
    const height = isDrawn ? laneHeight * track.laneCount : BAND;
    bottom = top + height + GAP;
    return {
      track,
      top,
      height,
      laneHeight,
      ...(isDrawn ? {} : { bins: binsOf(model, track, { from, to }, Math.max(1, Math.floor(width / BIN))) }),
    };
  });
  // The height follows from the style sheet's point of view: the canvas has none of its own.
  if (canvas.style.height !== `${bottom}px`) canvas.style.height = `${bottom}px`;
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(bottom * devicePixelRatio);
  const timeAt = (x: number): number => from + (x / width) * (to - from);
  const context = canvas.getContext('2d');
  if (context) {
    context.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(canvas);
    const brush: Brush = {
      context,
      width,
      bottom,
      x: (ms) => ((ms - from) / (to - from)) * width,
      colour: (name) => style.getPropertyValue(`--${name}`),
      font: style.fontFamily,
    };
    paintAxis(brush, { from, to });
    for (const row of rows) {
      paintTitle(brush, row);
      if (row.bins) paintBand(brush, row, row.bins);
      else paintCalls(brush, row, model, { from, to });
    }
    paintMarks(brush, model);
  }
  const rowAt = (y: number): Row | undefined => rows.find(({ top, height }) => y >= top - 4 && y <= top + height + 4);
  const callAt = (row: Row, x: number, y: number): number | undefined => {
    const lane = Math.floor((y - row.top) / row.laneHeight);
    const at = timeAt(x);
    const slack = ((to - from) / width) * 3;
    const { start, end } = model.report.spans;
    const found = row.track.calls.filter(
      (span, place) => row.track.lanes[place] === lane && (start[span] as number) <= at + slack && (end[span] as number) >= at - slack,
    );
    return found.find((span) => (start[span] as number) <= at && (end[span] as number) >= at) ?? found[0];
  };
  return {
    timeAt,
    linesAt(x, y) {
      const row = rowAt(y);
      if (!row) return [];
      if (row.bins) return binLines(row, row.bins, Math.min(row.bins.length - 1, Math.floor((x / width) * row.bins.length)), timeAt(x));
      const span = callAt(row, x, y);
      return span === undefined ? [] : callLines(model, span);
    },
    hitAt(x, y) {
      const row = rowAt(y);
      if (!row) return undefined;
      if (row.bins) return { kind: 'band' };
      const span = callAt(row, x, y);
      return span === undefined ? undefined : { kind: 'call', span };
    },
  };
}

interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  readonly bottom: number;
  x(ms: number): number;
  colour(name: SpanState | 'text' | 'muted' | 'line' | 'ground' | 'accent' | 'panel'): string;
  readonly font: string;
}

function paintAxis({ context, width, bottom, x, colour, font }: Brush, { from, to }: { readonly from: number; readonly to: number }): void {
  context.font = `11px ${font}`;
  for (const { ms, label } of ticksBetween(from, to, Math.max(2, Math.floor(width / TICK)))) {
    const at = Math.round(x(ms)) + 0.5;
    context.fillStyle = colour('line');
    context.fillRect(at, AXIS - 6, 1, bottom);
    context.fillStyle = colour('muted');
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.max(0, Math.min(at - half, width - 2 * half)), 12);
  }
}

function paintTitle({ context, colour, font }: Brush, { track, top, bins }: Row): void {
  context.font = `600 12px ${font}`;
  context.fillStyle = colour('text');
  const title = track.name;
  context.fillText(title, 0, top - 6);
  const used = context.measureText(title).width;
  context.font = `11px ${font}`;
  context.fillStyle = colour('muted');
  const most = bins?.reduce((peak, { inFlight }) => Math.max(peak, inFlight), 0);
  context.fillText(
    `${number(track.calls.length)} ${track.calls.length === 1 ? 'call' : 'calls'}${most === undefined ? '' : ` · at most ${number(Math.ceil(most))} in flight`}`,
    used + 8,
    top - 6,
  );
}

/** The height of a part says how many calls were in flight, its colours how those ended that ended there. */
function paintBand({ context, width, colour }: Brush, { top, height }: Row, bins: readonly Bin[]): void {
  const most = bins.reduce((peak, { inFlight, ended }) => Math.max(peak, inFlight, ended === 0 ? 0 : 1), 1);
  context.fillStyle = colour('panel');
  context.fillRect(0, top, width, height);
  const wide = width / bins.length;
  for (const [place, { inFlight, failed, reused, ended }] of bins.entries()) {
    if (inFlight === 0 && ended === 0) continue;
    const left = place * wide;
    const high = Math.max(3, (inFlight / most) * height);
    const part = ended === 0 ? 0 : reused / ended;
    context.fillStyle = colour('executed');
    context.fillRect(left, top + height - high, wide, high * (1 - part));
    context.fillStyle = colour('reused');
    context.fillRect(left, top + height - high * part, wide, high * part);
    if (failed === 0) continue;
    context.fillStyle = colour('failed');
    const tall = Math.max(8, (failed / Math.max(ended, 1)) * high);
    context.fillRect(left, top, Math.max(wide, 2), tall);
  }
}

function paintCalls(
  { context, x, width, colour, font }: Brush,
  { track, top, laneHeight }: Row,
  model: Model,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const { start, end } = model.report.spans;
  context.font = `11px ${font}`;
  for (const [place, span] of track.calls.entries()) {
    if ((end[span] as number) < from || (start[span] as number) > to) continue;
    const left = Math.max(x(start[span] as number), -1);
    const right = Math.max(Math.min(x(end[span] as number), width + 1), left + 2);
    const y = top + (track.lanes[place] as number) * laneHeight;
    const state = model.stateOf(span);
    const high = laneHeight - 2;
    const wide = right - left - (right - left > 3 ? 1 : 0);
    context.fillStyle = colour(state);
    context.fillRect(left, y, wide, high);
    // States differ by more than their colour.
    const isHollow = state === 'reused' || state === 'at-worker';
    if (isHollow && wide > 3 && high > 4) {
      context.fillStyle = colour('ground');
      context.fillRect(left + 1.5, y + 1.5, wide - 3, high - 3);
    }
    if (isFailing(state) && high > 5) {
      context.fillStyle = colour('ground');
      for (let stripe = left + 3; stripe < left + wide - 1; stripe += 6) context.fillRect(stripe, y, 1.5, high);
    }
    const about = model.aboutOf(span) || model.nameOf(span);
    if (wide < 46 || high < 11 || isFailing(state)) continue;
    context.save();
    context.beginPath();
    context.rect(left, y, wide - 3, high);
    context.clip();
    context.fillStyle = isHollow ? colour('text') : colour('ground');
    context.fillText(about.slice(0, 120), Math.max(left, 0) + 4, y + high - 2.5);
    context.restore();
  }
}

/** A label that would run into the one before it is left out: the line stays. */
function paintMarks({ context, x, width, bottom, colour, font }: Brush, model: Model): void {
  context.font = `11px ${font}`;
  let free = 0;
  for (const { name, at } of model.report.marks) {
    const left = Math.round(x(at));
    if (left < 0 || left > width) continue;
    context.fillStyle = colour('accent');
    context.fillRect(left, 16, 1.5, bottom);
    const label = name.slice(0, 40);
    const long = context.measureText(label).width + 8;
    if (left < free || left + long > width) continue;
    context.fillText(label, left + 4, 25);
    free = left + long;
  }
}

function callLines(model: Model, span: number): readonly string[] {
  const { spans } = model.report;
  const costUsd = spans.costUsd[span] ?? null;
  const attempts = spans.attempts[span] ?? 0;
  const facts = [
    stateWords(model.stateOf(span)),
    duration(model.durationOf(span)),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(costUsd === null ? [] : [money(costUsd)]),
  ];
  const message = spans.message[span] ?? '';
  return [
    `${model.titleOf(span)} ${model.aboutOf(span)}`.slice(0, 160),
    facts.join(' · '),
    ...(message === '' ? [] : [message.slice(0, 160)]),
  ];
}

function binLines({ track }: Row, bins: readonly Bin[], place: number, ms: number): readonly string[] {
  const bin = bins[place];
  if (!bin) return [];
  const { inFlight, failed, reused, ended } = bin;
  return [
    `${track.name} at ${duration(ms)}`,
    `${number(Math.round(inFlight))} in flight, ${number(ended)} ended here`,
    ...(reused > 0 ? [`${number(reused)} reused`] : []),
    ...(failed > 0 ? [`${number(failed)} without a result`] : []),
    'click to zoom in',
  ];
}
