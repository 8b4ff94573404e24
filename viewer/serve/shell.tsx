/** Lists the runs of a server, and shows the chosen one. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, chosenRun, isStart, stay, startAddress, TEAM } from './address.js';
import type { Api, Status } from './api.js';
import { hasCalls, listWords } from './calls.js';
import { LiveRun } from './live-run.js';
import { StartForm } from './start-form.js';

const LIST_MS = 2000;
/** A long list takes longer, and is requested less often. */
const LIST_FACTOR = 10;

export function Shell({ api, mayRun }: { readonly api: Api; readonly mayRun: boolean }) {
  const [runs, setRuns] = useState<readonly Status[]>();
  const [isLost, setLost] = useState(false);
  const [address, setAddress] = useState(chosenRun);
  const [isStarting, setStarting] = useState(isStart);
  const wake = useRef<() => void>(() => undefined);

  useEffect(() => {
    const follow = (): void => {
      setAddress(chosenRun());
      setStarting(isStart());
      wake.current();
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  useEffect(() => {
    const closing = new AbortController();
    const list = async (): Promise<void> => {
      while (!closing.signal.aborted) {
        const sinceMs = performance.now();
        try {
          const now = await api.list();
          // The same list again draws nothing anew.
          setRuns((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
          setLost(false);
        } catch {
          setLost(true);
        }
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(LIST_MS, (performance.now() - sinceMs) * LIST_FACTOR));
          wake.current = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    };
    void list();
    return () => {
      closing.abort();
      wake.current();
    };
  }, [api]);

  const named = address === undefined ? runs?.[0] : runs?.find(({ id }) => id === address);
  const chosen = isStarting ? undefined : named;
  // A run that resumed another one is shown under the id of the first.
  const isMissing = runs !== undefined && !isStarting && address !== undefined && named === undefined;
  useEffect(() => {
    if (!isMissing || address === undefined) return;
    api.status(address).then(
      ({ id }) => {
        if (id === address) return;
        history.replaceState(undefined, '', addressOf(id) + location.hash);
        setAddress(id);
      },
      () => undefined, // the page says that there is no such run
    );
  }, [api, address, isMissing]);
  useEffect(() => {
    if (chosen) document.title = `${chosen.pipeline_name} ${chosen.id}`;
  }, [chosen?.id]);
  return (
    <div class="shell">
      <nav class="runs" aria-label="Runs">
        {mayRun && (
          <a
            href={startAddress()}
            class="new"
            aria-current={isStarting ? 'page' : undefined}
            onClick={(event) => stay(event, startAddress())}
          >
            Start a run
          </a>
        )}
        <TeamLink />
        <h2>Pipelines</h2>
        {isLost && (
          <p class="message" role="alert">
            The server does not respond.
          </p>
        )}
        <ul>
          {runs?.length === 0 && <li class="muted">No pipeline has run here.</li>}
          {runs?.map((run) => (
            <Entry key={run.id} run={run} isChosen={run === chosen} />
          ))}
        </ul>
      </nav>
      <div id="page">
        {chosen && <LiveRun key={chosen.id} api={api} mayRun={mayRun} listed={chosen} onChange={() => wake.current()} />}
        {isStarting && mayRun && <StartForm api={api} />}
        {isStarting && !mayRun && (
          <main>
            <p>This token may only read.</p>
          </main>
        )}
        {runs && !chosen && !isStarting && (
          <main>
            {address === undefined ? (
              <p>
                No pipeline has run here yet. Runs of scripts are under <TeamLink />.
              </p>
            ) : (
              <p>There is no run {address}.</p>
            )}
          </main>
        )}
      </div>
    </div>
  );
}

function TeamLink() {
  return (
    <a href={TEAM} onClick={(event) => stay(event, TEAM)}>
      All runs and costs
    </a>
  );
}

function Entry({
  run: { id, pipeline_name: name, status, started_at: started, calls },
  isChosen,
}: {
  readonly run: Status;
  readonly isChosen: boolean;
}) {
  return (
    <li>
      <a href={addressOf(id)} aria-current={isChosen ? 'page' : undefined} onClick={(event) => stay(event, addressOf(id))}>
        <span class={`state ${status}`}>{name}</span>
        <small>
          {status} · {started.slice(0, 19).replace('T', ' ')}
        </small>
        {hasCalls(calls) && <small>{listWords(calls)}</small>}
      </a>
    </li>
  );
}
