/** Shows what the address names below the head of the page, which says what became of the run. */
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
};

export function App({ model }: { readonly model: Model }) {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const views = viewsOf(model);
  const view = views.includes(route.view) ? route.view : 'overview';
  return (
    <>
      <Head model={model} />
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
        {shown(view, model, route)}
      </main>
    </>
  );
}

function viewsOf({ data, diff }: Model): readonly View[] {
  return [
    'overview',
    ...(data.pipeline ? (['graph'] as const) : []),
    'operations',
    ...(data.sources.length > 0 ? (['script'] as const) : []),
    'output',
    ...(diff ? (['compare'] as const) : []),
  ];
}

function shown(view: View, model: Model, route: Route) {
  switch (view) {
    case 'graph':
      return <Graph model={model} />;
    case 'operations':
      return <Operations model={model} route={route} />;
    case 'script':
      return <Script model={model} />;
    case 'output':
      return <Output model={model} />;
    case 'compare':
      return <Compare model={model} />;
    default:
      return <Overview model={model} />;
  }
}
