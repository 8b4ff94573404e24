/**
 * Shows the calls over time, a track for each function: as a band of how many were in flight, and one by one where there is room for them.
 * Buttons, wheel and keys zoom, dragging and arrows move, a click opens a call or the part of a band.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { duration } from '../../../cli/render/units.js';
import type { Model } from '../model/page-model.js';
import { hashOfCall } from '../model/route.js';
import { tracksOf } from '../model/tracks.js';
import { number, stateWords } from '../model/verdict-words.js';
import { paint, type Picture } from './paint-timeline.js';

const ZOOM = 1.8;
const LEGEND = ['executed', 'at-worker', 'reused', 'failed', 'denied', 'not-executed', 'unfinished'] as const;

interface Window {
  readonly from: number;
  readonly to: number;
}

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

export function Timeline({ model }: { readonly model: Model }) {
  const whole = Math.max(model.report.durationMs, 1);
  const tracks = useMemo(() => tracksOf(model), [model]);
  /** Undefined: the whole run, also while it grows. */
  const [zoomed, setZoomed] = useState<Window>();
  const seen = useMemo(() => zoomed ?? { from: 0, to: whole }, [zoomed, whole]);
  const [tip, setTip] = useState<Tip>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | undefined>(undefined);
  const latest = useRef(seen);
  latest.current = seen;
  const wholeNow = useRef(whole);
  wholeNow.current = whole;

  const show = (from: number, to: number): void => {
    const end = wholeNow.current; // the listener of the wheel is older than the latest model
    const span = Math.min(end, Math.max(to - from, Math.min(10, end)));
    const begin = Math.max(0, Math.min(from, end - span));
    setTip(undefined);
    setZoomed(span === end ? undefined : { from: begin, to: begin + span });
  };
  const zoom = (factor: number, at = (latest.current.from + latest.current.to) / 2): void => {
    const { from, to } = latest.current;
    show(at - (at - from) / factor, at + (to - at) / factor);
  };
  const move = (part: number): void => {
    const { from, to } = latest.current;
    show(from + (to - from) * part, to + (to - from) * part);
  };

  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const draw = (): void => {
      picture.current = paint(element, model, tracks, latest.current);
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', draw);
    };
  }, [model, tracks, seen]);

  // Preact listens to the wheel passively, and this one keeps the page from scrolling.
  useEffect(() => {
    const element = canvas.current;
    if (!element) return undefined;
    const turn = (event: WheelEvent): void => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !isSideways && document.activeElement !== element) return;
      event.preventDefault();
      if (isSideways) move(event.deltaX / element.clientWidth);
      else zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, picture.current?.timeAt(event.offsetX));
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, []);

  const grabbed = useRef<{ readonly x: number; readonly seen: Window; isDragged: boolean } | undefined>(undefined);
  const point = (event: PointerEvent): void => {
    const start = grabbed.current;
    if (start) {
      const moved = start.x - event.clientX;
      start.isDragged ||= Math.abs(moved) > 3;
      const width = (event.currentTarget as HTMLElement).clientWidth;
      const by = (moved / width) * (start.seen.to - start.seen.from);
      if (start.isDragged) show(start.seen.from + by, start.seen.to + by);
      return;
    }
    const lines = picture.current?.linesAt(event.offsetX, event.offsetY) ?? [];
    setTip(lines.length === 0 ? undefined : { x: event.offsetX, y: event.offsetY, lines });
  };
  const press = (event: MouseEvent): void => {
    const isDragged = grabbed.current?.isDragged ?? false;
    grabbed.current = undefined;
    const hit = isDragged ? undefined : picture.current?.hitAt(event.offsetX, event.offsetY);
    if (hit?.kind === 'call') location.hash = hashOfCall(model.report.spans.op[hit.span] ?? '');
    else if (hit?.kind === 'band') zoom(4, picture.current?.timeAt(event.offsetX));
  };
  const keys: { readonly [key: string]: () => void } = {
    '+': () => zoom(ZOOM),
    '=': () => zoom(ZOOM),
    '-': () => zoom(1 / ZOOM),
    '0': () => show(0, whole),
    ArrowLeft: () => move(-1 / 8),
    ArrowRight: () => move(1 / 8),
  };
  const type = (event: KeyboardEvent): void => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const isWhole = zoomed === undefined;
  const states = LEGEND.filter((state) => model.calls.some((span) => model.stateOf(span) === state));
  return (
    <section class="card timeline" aria-labelledby="title-timeline">
      <div class="row">
        <h2 id="title-timeline">Timeline</h2>
        <div class="tools">
          <button type="button" aria-label="Zoom in" onClick={() => zoom(ZOOM)}>
            +
          </button>
          <button type="button" aria-label="Zoom out" disabled={isWhole} onClick={() => zoom(1 / ZOOM)}>
            −
          </button>
          <button type="button" aria-label="Fit the whole run" disabled={isWhole} onClick={() => show(0, whole)}>
            Fit
          </button>
        </div>
      </div>
      <ul class="legend" aria-label="Colours">
        {states.map((state) => (
          <li key={state} class={`state ${state}`}>
            {stateWords(state)}
          </li>
        ))}
      </ul>
      <div class="canvas">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`Timeline of ${number(model.calls.length)} calls over ${duration(model.report.durationMs)}, shown from ${duration(seen.from)} to ${duration(seen.to)}. Plus and minus zoom, arrows move, 0 shows all. The table of slowest calls and the operations say the same in words.`}
          onPointerDown={(event) => {
            grabbed.current = { x: event.clientX, seen, isDragged: false };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={point}
          onPointerCancel={() => (grabbed.current = undefined)}
          onPointerLeave={() => setTip(undefined)}
          onClick={press}
          onKeyDown={type}
        />
        {tip && <TipBox tip={tip} width={canvas.current?.clientWidth ?? 0} />}
      </div>
    </section>
  );
}

function TipBox({ tip: { x, y, lines }, width }: { readonly tip: Tip; readonly width: number }) {
  const side = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` };
  return (
    <div class="tip" role="presentation" style={{ ...side, top: `${y + 14}px` }}>
      {lines.map((line, place) => (
        <div key={place}>{line}</div>
      ))}
    </div>
  );
}
