/** Shows the drawing of a pipeline, which zooms and whose nodes are buttons. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { PageData } from '../model/page-model.js';

const ZOOM = 1.4;
const ZOOM_MAX = 6;
/** The labels of a drawing that is shown smaller than so much of its own size can't be read. */
const READABLE_MIN = 0.7;

interface DrawingCardProps {
  readonly pipeline: NonNullable<PageData['pipeline']>;
  readonly chosen: string;
  readonly choose: (node: string) => void;
}

export function DrawingCard({ pipeline: { svg, reason }, chosen, choose }: DrawingCardProps) {
  return (
    <section class="card" aria-labelledby="title-graph">
      <h2 id="title-graph">Graph</h2>
      {svg === null ? <p class="muted">{reason ?? 'The graph is being drawn.'}</p> : <Drawing svg={svg} chosen={chosen} choose={choose} />}
    </section>
  );
}

interface DrawingProps {
  readonly svg: string;
  readonly chosen: string;
  readonly choose: (node: string) => void;
}

/** Fits as a whole first where that can be read, and else begins at the node that matters now. Its nodes become buttons. */
function Drawing({ svg, chosen, choose }: DrawingProps) {
  const place = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  useLayoutEffect(() => {
    const drawing = document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
    // The links of a graph's author would lead away from this page.
    for (const link of drawing.querySelectorAll('a')) link.removeAttribute('xlink:href');
    for (const shape of drawing.querySelectorAll<SVGGElement>('g.node')) {
      const id = shape.querySelector('title')?.textContent ?? '';
      const words = [...shape.querySelectorAll('text')].map(({ textContent }) => textContent).join(', ');
      for (const [name, value] of Object.entries({ role: 'button', tabindex: '0', 'aria-label': words, 'data-node': id }))
        shape.setAttribute(name, value);
      shape.addEventListener('click', () => choose(id));
      shape.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        choose(id);
      });
    }
    const focused = place.current?.contains(document.activeElement) ? document.activeElement?.getAttribute('data-node') : null;
    place.current?.replaceChildren(drawing);
    // A new drawing of a run that goes on takes the place of the one that somebody is walking through.
    if (focused != null) place.current?.querySelector<SVGGElement>(`[data-node="${CSS.escape(focused)}"]`)?.focus();
  }, [svg]);
  const fitted = useRef(0);
  useLayoutEffect(() => {
    const drawing = place.current?.querySelector('svg');
    if (!drawing) return;
    if (scale === 1) drawing.style.width = '';
    else drawing.style.width = `${fitted.current * scale}px`;
  }, [svg, scale]);
  const zoomTo = (next: number): void => {
    // Steps are measured from the drawing as it fits.
    const drawing = place.current?.querySelector('svg');
    if (scale === 1 && drawing) fitted.current = fittedScale(drawing) * ownSize(drawing).width;
    setScale(next);
  };
  const isPlaced = useRef(false);
  useLayoutEffect(() => {
    const drawing = place.current?.querySelector('svg');
    if (!drawing || isPlaced.current) return;
    isPlaced.current = true;
    const needed = READABLE_MIN / fittedScale(drawing);
    if (needed > 1) zoomTo(Math.min(needed, ZOOM_MAX));
  }, [svg]);
  useEffect(() => {
    if (scale > 1 && place.current?.parentElement) revealCurrent(place.current.parentElement);
  }, [scale > 1]);
  useEffect(() => {
    for (const shape of place.current?.querySelectorAll('g.node') ?? [])
      shape.setAttribute('aria-pressed', String(shape.getAttribute('data-node') === chosen));
  }, [svg, chosen]);
  return (
    <>
      <div class="tools">
        <button type="button" aria-label="Zoom in" disabled={scale >= ZOOM_MAX} onClick={() => zoomTo(scale * ZOOM)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={scale <= 1} onClick={() => zoomTo(scale / ZOOM < 1.01 ? 1 : scale / ZOOM)}>
          −
        </button>
        <button type="button" aria-label="Fit the whole graph" disabled={scale === 1} onClick={() => zoomTo(1)}>
          Fit
        </button>
      </div>
      <div class={`picture drawing${scale === 1 ? '' : ' zoomed'}`} role="group" aria-label="Drawing of the pipeline" tabIndex={0}>
        <div ref={place} />
      </div>
    </>
  );
}

/** Graphviz counts in points, browsers in pixels. */
function ownSize({ viewBox: { baseVal } }: SVGSVGElement): { readonly width: number; readonly height: number } {
  return { width: (baseVal.width * 96) / 72, height: (baseVal.height * 96) / 72 };
}

/** The box may be wider than the drawing in it, which keeps its proportions. */
function fittedScale(drawing: SVGSVGElement): number {
  const [own, box] = [ownSize(drawing), drawing.getBoundingClientRect()];
  return Math.min(box.width / own.width, box.height / own.height);
}

/** Scrolls the box of the drawing, and not the page, to what waits, runs or failed. */
function revealCurrent(box: HTMLElement): void {
  const states = ['waiting', 'running', 'fail', 'interrupted'].map((state) => box.querySelector(`.state-${state}`));
  const current = states.find((shape) => shape !== null);
  if (!current) return;
  const [inner, outer] = [current.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollTop += inner.top + inner.height / 2 - (outer.top + outer.height / 2);
  box.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}
