/** Shows a run of any workflow with the page that `mlld journal report` makes, and keeps it up to date while it runs. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { App } from '../../report/app.js';
import { createModel, type PageData, type SpanDetails } from '../../report/model/page-model.js';
import { stay, TEAM } from '../address.js';
import type { Api } from '../api.js';
import { createLiveDetails } from '../live-details.js';
import { usePolled } from '../use-polled.js';

const RUNNING_MS = 1500;
/** A run that is over may be removed or redacted. */
const OVER_MS = 30_000;

export function AnyRun({ api, id }: { readonly api: Api; readonly id: string }) {
  const [loaded, setLoaded] = useState(0);
  const { value: data, problem } = usePolled<PageData>(
    id,
    (page) => (page === undefined || page.report.status === 'running' ? RUNNING_MS : OVER_MS),
    (signal) => api.readTeam(`runs/${id}/page`, signal),
  );
  const details = useMemo(() => {
    const operations = (run: string, op?: string): Promise<readonly (SpanDetails | null)[]> =>
      api.readTeam(`runs/${run}/operations${op === undefined ? '' : `?op=${encodeURIComponent(op)}`}`, new AbortController().signal);
    return createLiveDetails({ operations }, id, () => setLoaded((count) => count + 1));
  }, [api, id]);
  const model = useMemo(() => data && createModel(data, undefined, details(data)), [data, details, loaded]);
  useEffect(() => {
    document.title = data ? `${data.report.workflow} ${id}` : id;
  }, [data, id]);
  return (
    <div id="page">
      <nav class="crumbs to-all" aria-label="Back">
        <a href={TEAM} onClick={(event) => stay(event, TEAM)}>
          All runs and costs
        </a>
      </nav>
      {problem !== '' && (
        <p class="card message" role="alert">
          {problem}
        </p>
      )}
      {model ? <App model={model} /> : problem === '' && <main>{<p>Opening {id}…</p>}</main>}
    </div>
  );
}
