/** Draws the spans of a run over time on a canvas: wheel, buttons and keys zoom, dragging and arrows move, a click chooses. */
import { duration } from '../../cli/render/units.js';
import { element } from '../shared/dom.js';
import type { Model } from './model.js';

const ROW = 16;
const AXIS = 22;
const HEIGHT_MAX = 420;
/** Pixels between two labels of the axis. */
const TICK = 110;
const ZOOM = 1.6;

export interface TimelineView {
  readonly root: HTMLElement;
  choose(span: number): void;
}

export function timelineView(model: Model, onChoose: (span: number) => void): TimelineView {
  const { spans, durationMs, marks } = model.data;
  const rows = spans.row.reduce((most, row) => Math.max(most, row + 1), 1);
  const rowHeight = Math.max(3, Math.min(ROW, (HEIGHT_MAX - AXIS) / rows));
  const whole = Math.max(durationMs, 1);
  let from = 0;
  let to = whole;
  let chosen = -1;

  const canvas = element('canvas', { tabindex: '0', role: 'img' });
  canvas.setAttribute(
    'aria-label',
    `Timeline of ${model.count} operations over ${duration(durationMs)}. Plus and minus zoom, arrows move, 0 shows all.`,
  );
  const button = (label: string, title: string, act: () => void): HTMLElement => {
    const made = element('button', { type: 'button', title }, label);
    made.addEventListener('click', act);
    return made;
  };
  const bar = element(
    'div',
    { class: 'bar' },
    button('+', 'zoom in', () => zoom(ZOOM)),
    button('−', 'zoom out', () => zoom(1 / ZOOM)),
    button('all', 'show all', () => show(0, whole)),
    ...(['executed', 'reused', 'failed', 'denied', 'not-executed', 'unfinished', 'done'] as const).map((state) =>
      element('span', { class: `state ${state}` }, state),
    ),
  );

  function show(newFrom: number, newTo: number): void {
    const span = Math.min(whole, Math.max(newTo - newFrom, Math.min(1, whole)));
    from = Math.max(0, Math.min(newFrom, whole - span));
    to = from + span;
    requestAnimationFrame(draw);
  }

  function zoom(factor: number, at = (from + to) / 2): void {
    show(at - (at - from) / factor, at + (to - at) / factor);
  }

  function draw(): void {
    const width = canvas.clientWidth;
    const height = AXIS + rows * rowHeight;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    if (!context || width === 0) return;
    const style = getComputedStyle(canvas);
    const colour = (name: string): string => style.getPropertyValue(`--${name}`);
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    const x = (ms: number): number => ((ms - from) / (to - from)) * width;
    context.fillStyle = colour('muted');
    for (let tick = 0; tick * TICK < width; tick++) {
      context.fillText(duration(from + ((to - from) * tick * TICK) / width), tick * TICK + 2, 12);
    }
    /** The right end of what is painted in each row: a span that would be hidden behind it is not painted. */
    const painted = new Float64Array(rows).fill(-1);
    for (let span = 0; span < model.count; span++) {
      const start = spans.start[span] as number;
      const end = spans.end[span] as number;
      if (end < from || start > to) continue;
      const row = spans.row[span] as number;
      const left = Math.max(x(start), 0);
      const right = Math.max(Math.min(x(end), width), left + 1);
      const state = model.stateOf(span);
      if (right <= (painted[row] as number) + 0.5 && state !== 'failed' && span !== chosen && right - left <= 1) continue;
      painted[row] = Math.max(painted[row] as number, right);
      const top = AXIS + row * rowHeight;
      context.fillStyle = colour(state);
      context.fillRect(left, top, right - left, rowHeight - 1);
      if (state === 'reused' && right - left > 2) {
        context.fillStyle = colour('ground');
        context.fillRect(left + 1, top + 1, right - left - 2, Math.max(rowHeight - 3, 0));
      }
      if (right - left > 40 && rowHeight >= 12) {
        context.save();
        context.beginPath();
        context.rect(left, top, right - left - 2, rowHeight);
        context.clip();
        context.fillStyle = state === 'reused' || state === 'done' ? colour('text') : colour('ground');
        context.fillText(model.title(span).slice(0, 200), left + 4, top + rowHeight - 5);
        context.restore();
      }
      if (span === chosen) {
        context.strokeStyle = colour('text');
        context.lineWidth = 2;
        context.strokeRect(left, top, Math.max(right - left, 3), rowHeight - 1);
      }
    }
    context.fillStyle = colour('accent');
    for (const { name, at } of marks) {
      if (at < from || at > to) continue;
      context.fillRect(x(at), 14, 1, height);
      context.fillText(name.slice(0, 60), x(at) + 3, AXIS - 1);
    }
  }

  /** Returns the span at the pointer; the last one of several that are too thin to distinguish. */
  function spanAt(event: MouseEvent): number {
    const at = from + (event.offsetX / canvas.clientWidth) * (to - from);
    const slack = ((to - from) / canvas.clientWidth) * 2;
    const row = Math.floor((event.offsetY - AXIS) / rowHeight);
    for (let span = model.count - 1; span >= 0; span--) {
      if (spans.row[span] === row && (spans.start[span] as number) <= at + slack && (spans.end[span] as number) >= at - slack) return span;
    }
    return -1;
  }

  canvas.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && document.activeElement !== canvas) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        show(from + (event.deltaX / canvas.clientWidth) * (to - from), to + (event.deltaX / canvas.clientWidth) * (to - from));
      else zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, from + (event.offsetX / canvas.clientWidth) * (to - from));
    },
    { passive: false },
  );
  let grabbed: { readonly x: number; readonly from: number; readonly to: number } | undefined;
  let dragged = false;
  canvas.addEventListener('pointerdown', (event) => {
    grabbed = { x: event.clientX, from, to };
    dragged = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (grabbed === undefined) {
      const span = spanAt(event);
      canvas.title = span < 0 ? '' : `${model.title(span)} · ${duration((spans.end[span] as number) - (spans.start[span] as number))}`;
      return;
    }
    dragged ||= Math.abs(event.clientX - grabbed.x) > 3;
    const moved = ((grabbed.x - event.clientX) / canvas.clientWidth) * (grabbed.to - grabbed.from);
    if (dragged) show(grabbed.from + moved, grabbed.to + moved);
  });
  canvas.addEventListener('pointerup', () => (grabbed = undefined));
  canvas.addEventListener('click', (event) => {
    const span = dragged ? -1 : spanAt(event);
    if (span >= 0) onChoose(span);
  });
  const keys: { readonly [key: string]: () => void } = {
    '+': () => zoom(ZOOM),
    '=': () => zoom(ZOOM),
    '-': () => zoom(1 / ZOOM),
    '0': () => show(0, whole),
    ArrowLeft: () => show(from - (to - from) / 8, to - (to - from) / 8),
    ArrowRight: () => show(from + (to - from) / 8, to + (to - from) / 8),
  };
  canvas.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  canvas.style.height = `${AXIS + rows * rowHeight}px`;
  new ResizeObserver(draw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  return {
    root: element('div', {}, bar, canvas),
    choose(span) {
      chosen = span;
      const [start, end] = [spans.start[span] as number, spans.end[span] as number];
      if (end < from || start > to) show(start - (to - from) / 2, start + (to - from) / 2);
      draw();
    },
  };
}
