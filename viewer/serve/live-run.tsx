/** Shows a run with the page that `mlld journal report` makes, and keeps it up to date: each event of the run may change it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { App } from '../report/app.js';
import { createModel, type PageData } from '../report/model/page-model.js';
import type { Api, Question, Status } from './api.js';
import { EventList, type ListedEvent, listedEvent } from './event-list.js';
import { LiveOutput } from './live-output.js';
import { createLiveDetails } from './live-details.js';
import { pollOnChange } from './poll.js';
import { Questions } from './questions.js';

interface LiveRunProps {
  readonly api: Api;
  /** False: the token may only read. */
  readonly mayRun: boolean;
  /** As the list of runs has it. */
  readonly listed: Status;
  /** Called when the status of the run has changed. */
  readonly onChange: () => void;
}

const EVENTS_MAX = 2000;

export function LiveRun({ api, mayRun, listed, onChange }: LiveRunProps) {
  const { id } = listed;
  const [status, setStatus] = useState(listed);
  const [questions, setQuestions] = useState<readonly Question[]>([]);
  const [data, setData] = useState<PageData>();
  const [drawing, setDrawing] = useState<{ readonly svg: string | null; readonly reason: string | null }>({ svg: null, reason: null });
  const [events, setEvents] = useState<readonly ListedEvent[]>([]);
  const [problem, setProblem] = useState('');
  const [loaded, setLoaded] = useState(0);
  const details = useMemo(() => createLiveDetails(api, id, () => setLoaded((count) => count + 1)), [api, id]);
  const last = useRef('');
  const update = useRef<() => void>(() => undefined);
  const [resumes, setResumes] = useState(0);
  const report = (error: unknown): void => setProblem((error as Error).message);

  // A run that has ended and is in flight again was resumed elsewhere, and is followed anew. One that was resumed here may be over before a
  // list has it as running.
  const isInFlight = listed.status === 'running' || listed.status === 'waiting';
  useEffect(() => {
    const closing = new AbortController();
    const { signal } = closing;
    const pending: ListedEvent[] = [];
    const updateRun = pollOnChange(signal, async () => {
      const arrived = pending.splice(0);
      if (arrived.length > 0) setEvents((before) => [...before, ...arrived].slice(-EVENTS_MAX));
      try {
        const [now, open, page] = await Promise.all([api.status(id), api.questions(id), api.page(id)]);
        if (signal.aborted) return;
        setStatus((before) => {
          if (before.status !== now.status) onChange();
          return now;
        });
        setQuestions((before) => (JSON.stringify(before) === JSON.stringify(open) ? before : open));
        setData(page);
        setProblem('');
      } catch (error) {
        if (!signal.aborted) report(error);
      }
    });
    const updateDrawing = pollOnChange(signal, async () => {
      const next = await api.graph(id).then(
        (svg) => ({ svg, reason: null }),
        (error: unknown) => ({ svg: null, reason: (error as Error).message }),
      );
      // A drawing that can't be made any more is better than none.
      setDrawing((before) => (next.svg === null && before.svg !== null ? before : next));
    });
    const updateAll = (): void => {
      updateRun();
      updateDrawing();
    };
    update.current = updateAll;
    updateAll();
    const ended = api.follow(
      id,
      last.current,
      (event, number) => {
        last.current = number;
        pending.push(listedEvent(event, number));
        updateRun();
        if (CHANGING_DRAWINGS.test(event.type)) updateDrawing();
      },
      signal,
    );
    ended.then(updateAll, (error: unknown) => signal.aborted || report(error));
    return () => closing.abort();
  }, [api, id, isInFlight, resumes]);
  useEffect(() => update.current(), [listed]);

  const model = useMemo(() => {
    if (!data) return undefined;
    return createModel({ ...data, pipeline: data.pipeline && { ...data.pipeline, ...drawing } }, undefined, details(data));
  }, [data, drawing, details, loaded]);
  if (!model) {
    return (
      <main>
        <p>{problem === '' ? `Opening ${listed.pipeline_name}…` : problem}</p>
      </main>
    );
  }
  const followAnew = (): void => setResumes((count) => count + 1);
  return (
    <App
      model={model}
      following={{
        name: status.pipeline_name,
        actions: (
          <Actions
            status={status}
            mayRun={mayRun}
            onCancel={() => api.cancel(id).catch(report)}
            onResume={() => api.resume(id).then(followAnew, report)}
          />
        ),
        first: (
          <>
            {problem !== '' && (
              <p class="message" role="alert">
                {problem}
              </p>
            )}
            <Questions
              questions={questions}
              mayAnswer={mayRun}
              asked={new Map((model.data.verdict.pipeline?.questions ?? []).map(({ id: question, asked }) => [question, asked]))}
              answer={async (question, value) => {
                await api.answer(id, question, value);
                setQuestions((before) => before.filter((each) => each.id !== question)); // it can't be answered twice
                followAnew(); // the answer to an interrupted run resumes it
              }}
            />
            {(status.status === 'running' || status.status === 'waiting') && <LiveOutput api={api} id={id} model={model} />}
          </>
        ),
        events: <EventList events={events} run={id} />,
      }}
    />
  );
}

const CHANGING_DRAWINGS = /^(?:node|question|run)\./;

interface ActionsProps {
  readonly status: Status;
  readonly mayRun: boolean;
  readonly onCancel: () => Promise<void>;
  readonly onResume: () => Promise<void>;
}

function Actions({ status: now, mayRun, onCancel, onResume }: ActionsProps) {
  const [isBusy, setBusy] = useState(false);
  const isInFlight = now.status === 'running' || now.status === 'waiting';
  const act = (action: () => Promise<void>) => (): void => {
    setBusy(true);
    void action().then(() => setBusy(false));
  };
  return (
    <div class="bar">
      <p id="status" role="status" class={`state ${now.status}`}>
        {statusWords(now)}
      </p>
      {mayRun && isInFlight && (
        <button type="button" id="cancel" disabled={isBusy} onClick={act(onCancel)}>
          Cancel
        </button>
      )}
      {mayRun && !isInFlight && now.status !== 'completed' && (
        <button type="button" id="resume" disabled={isBusy} onClick={act(onResume)}>
          Resume
        </button>
      )}
    </div>
  );
}

/** `waiting · at gate · 7 nodes done · gates: audit pending` */
function statusWords({ status, current_node: node, completed_nodes: done, goal_gate_status: gates }: Status): string {
  const isInFlight = status === 'running' || status === 'waiting';
  const words = Object.entries(gates).map(([gate, state]) => `${gate} ${state}`);
  return [
    status,
    ...(node === null ? [] : [`${isInFlight ? 'at' : 'last'} ${node}`]),
    `${done} ${done === 1 ? 'node' : 'nodes'} done`,
    ...(words.length === 0 ? [] : [`gates: ${words.join(', ')}`]),
  ].join(' · ');
}
