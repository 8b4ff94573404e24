/**
 * Shows what the address names below the head of the page, which says what became of the run. A page that follows a run is handed new
 * models, and what it shows beside them.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Compare } from './compare/compare.js';
import { Graph } from './graph/graph.js';
import { Head } from './head.js';
import type { Model } from './model/page-model.js';
import { hashOf, parseRoute, type Route, type View } from './model/route.js';
import { Operations } from './operations/operations.js';
import { Overview } from './overview/overview.js';
import { Output } from './source/output.js';
import { Script } from './source/script.js';

const TITLES: { readonly [V in View]: string } = {
  overview: 'Overview',
  graph: 'Graph',
  operations: 'Operations',
  script: 'Script',
  output: 'Output and inputs',
  compare: 'Comparison',
  events: 'Events',
};

/** The parts of a page that follows a run. */
export interface Following {
  readonly name: string;
  /** The state of the run, and the buttons that change it. */
  readonly actions: ComponentChildren;
  /** Above everything else. */
  readonly first: ComponentChildren;
  readonly events: ComponentChildren;
}

export interface AppProps {
  readonly model: Model;
  readonly following?: Following;
  /** Says whether the page follows its run. */
  readonly notice?: string;
}

export function App({ model, following, notice = '' }: AppProps) {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const views = viewsOf(model, following !== undefined);
  const view = views.includes(route.view) ? route.view : 'overview';
  return (
    <>
      <Head model={model} following={following} isFirstView={view === 'overview'} />
      {notice !== '' && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      {model.data.defects.length > 0 && <Incomplete model={model} />}
      {following?.first}
      <nav class="views" aria-label="Parts of the page">
        <ul>
          {views.map((each) => (
            <li key={each}>
              <a href={hashOf({ view: each })} aria-current={each === view ? 'page' : undefined}>
                {TITLES[each]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        {shown(view, model, route, following)}
      </main>
    </>
  );
}

/** A page that shows less than what happened says so. */
function Incomplete({ model: { data, report } }: { readonly model: Model }) {
  return (
    <section class="card trouble" aria-labelledby="title-incomplete">
      <h2 id="title-incomplete">The journal of this run is incomplete</h2>
      <ul class="plain">
        {data.defects.map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
      <p class="muted">
        What happened there is missing on this page. <code>mlld journal verify {report.run}</code> says more.
      </p>
    </section>
  );
}

function viewsOf({ data, diff }: Model, isFollowing: boolean): readonly View[] {
  return [
    'overview',
    ...(data.pipeline ? (['graph'] as const) : []),
    'operations',
    ...(data.sources.length > 0 ? (['script'] as const) : []),
    'output',
    ...(diff ? (['compare'] as const) : []),
    ...(isFollowing ? (['events'] as const) : []),
  ];
}

function shown(view: View, model: Model, route: Route, following: Following | undefined) {
  switch (view) {
    case 'graph':
      return <Graph model={model} node={route.node} />;
    case 'operations':
      return <Operations model={model} route={route} />;
    case 'script':
      return <Script model={model} />;
    case 'output':
      return <Output model={model} />;
    case 'compare':
      return <Compare model={model} />;
    case 'events':
      return following?.events;
    default:
      return <Overview model={model} isFollowed={following !== undefined} />;
  }
}
