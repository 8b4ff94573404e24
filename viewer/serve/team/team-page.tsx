/** Shows the runs of everybody who works on the project, their costs, the questions that wait, and what the store of a team has beside. */
import { useEffect, useState } from 'preact/hooks';
import { stay, TEAM } from '../address.js';
import type { Api } from '../api.js';
import { CostSections } from './cost-sections.js';
import { FilterForm } from './filter-form.js';
import { TeamFigures } from './figures.js';
import { readOverview, readRuns, searchOf, shownIn, type Overview, type Shown } from './requests.js';
import { RunTable } from './run-table.js';
import { StoreSections } from './store-sections.js';
import { usePolled } from '../use-polled.js';
import { WaitingQuestions } from './waiting-questions.js';

const RUNS_MS = 2000;
const OVERVIEW_MS = 5000;
/** Functions are being counted. */
const COUNTING_MS = 1500;

export function TeamPage({ api }: { readonly api: Api }) {
  const [shown, setShown] = useState(() => shownIn(location.search));
  useEffect(() => {
    document.title = 'All runs and costs';
    const follow = (): void => setShown(shownIn(location.search));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const { offset: _offset, ...filter } = shown;
  const runs = usePolled(
    searchOf(shown),
    () => RUNS_MS,
    (signal) => readRuns(api.readTeam, shown, signal),
  );
  const overview = usePolled<Overview>(
    JSON.stringify(filter),
    (value) => (value && value.costs.pending > 0 ? COUNTING_MS : OVERVIEW_MS),
    (signal) => readOverview(api.readTeam, shown, signal),
  );
  const problem = runs.problem || overview.problem;
  /** Another filter begins at the first page. */
  const change = (changed: Partial<Shown>): void => {
    const next = { ...shown, offset: 0, ...changed };
    history.replaceState(undefined, '', `${TEAM}${searchOf(next)}`);
    setShown(next);
  };
  return (
    <div id="page" class="team">
      <header class="head">
        <p class="crumbs">
          <a href="/" onClick={(event) => stay(event, '/')}>
            Pipelines
          </a>
        </p>
        <h1>All runs and costs</h1>
        {overview.value && <TeamFigures page={runs.value} overview={overview.value} days={shown.days} />}
      </header>
      <main>
        {problem !== '' && (
          <p class="card message" role="alert">
            {problem} What is shown may be old.
          </p>
        )}
        {overview.value && <WaitingQuestions questions={overview.value.questions} />}
        <FilterForm shown={shown} page={runs.value} onChange={change} />
        {overview.value && <CostSections costs={overview.value.costs} days={Number(shown.days)} onChange={change} />}
        {runs.value && <RunTable page={runs.value} onChange={change} />}
        {overview.value?.store.isShared && <StoreSections store={overview.value.store} />}
      </main>
    </div>
  );
}
