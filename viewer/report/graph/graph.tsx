/** Shows a pipeline: its drawing, which zooms, and the visits of its nodes with edges, conditions and context. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { duration } from '../../../cli/render/units.js';
import type { Model, PageData } from '../model/page-model.js';
import { hashOfCall } from '../model/route.js';

type Pipeline = NonNullable<PageData['pipeline']>;
type Step = Pipeline['steps'][number];

const ZOOM = 1.4;
const ZOOM_MAX = 6;

export function Graph({ model }: { readonly model: Model }) {
  const { pipeline } = model.data;
  const [node, choose] = useState('');
  if (!pipeline) return null;
  const steps = pipeline.steps.filter((step) => node === '' || step.node === node);
  return (
    <>
      <section class="card" aria-labelledby="title-graph">
        <h2 id="title-graph">Graph</h2>
        {pipeline.svg === null ? <p class="muted">{pipeline.reason}</p> : <Drawing svg={pipeline.svg} chosen={node} choose={choose} />}
      </section>
      <section class="card" aria-labelledby="title-visits">
        <div class="row">
          <h2 id="title-visits">Visits{node === '' ? '' : ` of ${node}`}</h2>
          {node !== '' && (
            <button type="button" onClick={() => choose('')}>
              Show all
            </button>
          )}
        </div>
        {steps.length === 0 && <p class="muted">It was not visited.</p>}
        <ol class="groups visits">
          {steps.map((step) => (
            <Visit key={step.op} step={step} model={model} />
          ))}
        </ol>
      </section>
    </>
  );
}

interface DrawingProps {
  readonly svg: string;
  readonly chosen: string;
  readonly choose: (node: string) => void;
}

/** Fits as a whole first. Its nodes become buttons. */
function Drawing({ svg, chosen, choose }: DrawingProps) {
  const place = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(1);
  useEffect(() => {
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
    place.current?.replaceChildren(drawing);
  }, [svg]);
  const fitted = useRef(0);
  useLayoutEffect(() => {
    const drawing = place.current?.querySelector('svg');
    if (!drawing) return;
    if (scale === 1) drawing.style.width = '';
    else drawing.style.width = `${fitted.current * scale}px`;
  }, [scale]);
  const zoomTo = (next: number): void => {
    // Steps are measured from the drawing as it fits.
    if (scale === 1) fitted.current = place.current?.querySelector('svg')?.getBoundingClientRect().width ?? 0;
    setScale(next);
  };
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

function Visit({ step, model }: { readonly step: Step; readonly model: Model }) {
  const { op, node, visit, handler, atMs, status, attempts, durationMs, reason, changes, edges } = step;
  return (
    <li>
      <span class="took">{duration(atMs)}</span>
      <div class="visit">
        <p>
          {model.spanAt(op) === undefined ? <b>{node}</b> : <a href={hashOfCall(op)}>{node}</a>}
          {visit > 0 && ` (visit ${visit + 1})`}{' '}
          <span class={`pill ${status === 'fail' ? 'failed' : status === 'success' ? 'executed' : ''}`}>{status.replace('_', ' ')}</span>{' '}
          <span class="muted">
            {handler}
            {durationMs !== null && `, ${duration(durationMs)}`}
            {attempts > 1 && `, ${attempts} attempts`}
          </span>
        </p>
        {reason !== '' && <p class="message">{reason}</p>}
        {edges.length > 0 && (
          <ul class="plain edges">
            {edges.map((edge, place) => (
              <li key={place} class={edge.via === null ? 'muted' : undefined}>
                {edge.via === null ? '–' : '→'} {edge.to}
                {edge.label !== '' && ` “${edge.label}”`}
                {edge.condition !== null && (
                  <>
                    {' '}
                    <code>{edge.condition}</code>
                    {edge.held !== null && (edge.held ? ' held' : ' did not hold')}
                  </>
                )}
                {edge.via !== null && `, taken by ${edge.via.replaceAll('_', ' ')}`}
              </li>
            ))}
          </ul>
        )}
        {changes.length > 0 && (
          <details>
            <summary>Context: {changes.map(([key]) => key).join(', ')}</summary>
            <dl class="facts wide">
              {changes.map(([key, value]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      </div>
    </li>
  );
}
