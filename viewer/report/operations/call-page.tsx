/** Shows one operation whole: texts, attempts, what it was reused from, hooks, guards, files and cost. */
import { useEffect, useRef } from 'preact/hooks';
import { atHost } from '../../../replay/reports/team/at-host.js';
import { duration, money } from '../../../cli/render/units.js';
import type { CallDetails, Model, SpanDetails } from '../model/page-model.js';
import { hashOf, hashOfCall, type Filter } from '../model/route.js';
import { number, orDash, stateWords } from '../model/verdict-words.js';
import { CopyButton } from '../parts/copy-button.js';
import { Table } from '../parts/table.js';
import { TextBlock } from '../parts/text-block.js';

interface CallPageProps {
  readonly model: Model;
  readonly span: number;
  readonly filter: Filter;
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly onGo: (span: number) => void;
}

export function CallPage({ model, span, filter, before, after, onGo }: CallPageProps) {
  const { spans, marks: _, ...report } = model.report;
  const op = spans.op[span] ?? '';
  const details = model.detailsOf(span);
  const state = model.stateOf(span);
  const title = useRef<HTMLHeadingElement>(null);
  const isCall = (spans.calls[span] ?? 0) > 0;
  // On a narrow screen the page of a call takes the place of the list.
  useEffect(() => {
    if (matchMedia('(max-width: 1099px)').matches) title.current?.scrollIntoView({ block: 'start' });
  }, [span]);
  const message = spans.message[span] ?? '';
  const site = details?.site ?? null;
  return (
    <section class="card call" aria-labelledby="title-chosen">
      <div class="row steps">
        <a class="back" href={hashOf({ view: 'operations', filter })}>
          ← Operations
        </a>
        <button type="button" disabled={before === undefined} onClick={() => before !== undefined && onGo(before)}>
          Previous
        </button>
        <button type="button" disabled={after === undefined} onClick={() => after !== undefined && onGo(after)}>
          Next
        </button>
        <CopyButton text={() => `${location.href.replace(/#.*/, '')}${hashOfCall(op)}`} of="link" label="Copy link" />
      </div>
      <h2 id="title-chosen" ref={title} tabIndex={-1}>
        {model.titleOf(span)} <span class={`pill ${state}`}>{stateWords(state)}</span>
      </h2>
      {model.aboutOf(span) !== '' && <p class="about">{model.aboutOf(span)}</p>}
      {message !== '' && <p class="message">{message}</p>}
      <dl class="facts">
        <Fact term="Time">{duration(model.durationOf(span))}</Fact>
        <Fact term="Began after">{duration(spans.start[span] ?? 0)}</Fact>
        {site !== null && <Fact term="Place">{site}</Fact>}
        {!isCall && <Fact term="Kind">{spans.kind[span]}</Fact>}
        {(spans.group[span] ?? -1) >= 0 && <Fact term="Phase">{report.groups[spans.group[span] as number]}</Fact>}
      </dl>
      <div class="row path">
        <code>{op}</code>
        <CopyButton text={() => op} of="the path" />
      </div>
      {details?.calls.map((call, place) => (
        <Call key={place} call={call} isOnly={details.calls.length === 1} run={model.report.run} />
      ))}
      {details && details.moments.length > 0 && <Moments moments={details.moments} />}
      <Inside model={model} span={span} />
    </section>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Call({ call, isOnly, run }: { readonly call: CallDetails; readonly isOnly: boolean; readonly run: string }) {
  const { fn, outcome, args, result, from, attempts, files, inputTokens, outputTokens, costUsd, model, worker } = call;
  return (
    <div class="body">
      {!isOnly && (
        <h3>
          @{fn} {outcome}
        </h3>
      )}
      <dl class="facts">
        {model !== null && <Fact term="Model">{model}</Fact>}
        {costUsd !== null && <Fact term="Cost">{money(costUsd)}</Fact>}
        {worker !== null && <Fact term="Worker">{atHost(worker.name, worker.host ?? undefined)}</Fact>}
        {worker !== null && worker.costUsd !== null && <Fact term="Cost, counted there">{money(worker.costUsd)}</Fact>}
        {inputTokens !== null && <Fact term="Tokens in">{number(inputTokens)}</Fact>}
        {outputTokens !== null && <Fact term="Tokens out">{number(outputTokens)}</Fact>}
      </dl>
      {from !== null && (
        <p class="reused">
          {worker === null ? 'Reused from' : 'Its attempts begin before'} event {number(from.seq)} of run <code>{from.run}</code>
          {from.run === run && from.op !== null ? <a href={hashOfCall(from.op)}> the same run</a> : ` of ${from.workflow}`}
          {from.op === null && ', which is gone'}.
        </p>
      )}
      {args.map((shown, place) => (
        <TextBlock key={place} title={args.length === 1 ? 'Prompt' : `Argument ${place + 1}`} shown={shown} />
      ))}
      <TextBlock title="Result" shown={result} />
      {(attempts.length > 1 || attempts.some(({ message }) => message !== null)) && (
        <>
          <h3>Attempts</h3>
          <Table
            label="Attempts"
            columns={[
              { title: 'Attempt', isNumber: true },
              { title: 'Ended' },
              { title: 'Waited', isNumber: true },
              { title: 'Time', isNumber: true },
              { title: 'Cost', isNumber: true },
              { title: 'Reason' },
            ]}
            rows={attempts.map((attempt) => [
              attempt.try,
              `${attempt.outcome}${attempt.retryInMs === null ? '' : `, again in ${duration(attempt.retryInMs)}`}`,
              attempt.waitedMs === null ? '–' : duration(attempt.waitedMs),
              attempt.durationMs === null ? '–' : duration(attempt.durationMs),
              orDash(attempt.costUsd, money),
              [attempt.cause, attempt.message].filter((each) => each !== null).join(': '),
            ])}
          />
        </>
      )}
      {files.length > 0 && (
        <>
          <h3>Files</h3>
          <ul class="plain">
            {files.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const TITLES = { effect: 'Effects', hook: 'Hooks', guard: 'Guards', retry: 'Retries' } as const;
const MOMENTS_SHOWN = 200;

function Moments({ moments }: { readonly moments: SpanDetails['moments'] }) {
  return (
    <>
      {(['guard', 'hook', 'retry', 'effect'] as const).map((kind) => {
        const found = moments.filter((moment) => moment.kind === kind);
        return (
          found.length > 0 && (
            <div key={kind} class="text">
              <h3>{TITLES[kind]}</h3>
              <ul class="plain">
                {found.slice(0, MOMENTS_SHOWN).map(({ text }, place) => (
                  <li key={place}>{text}</li>
                ))}
              </ul>
              {found.length > MOMENTS_SHOWN && <p class="muted">and {number(found.length - MOMENTS_SHOWN)} more</p>}
            </div>
          )
        );
      })}
    </>
  );
}

const INSIDE_SHOWN = 50;

function Inside({ model, span }: { readonly model: Model; readonly span: number }) {
  const children = model.childrenOf(span);
  const around = model.ancestorsOf(span);
  if (children.length === 0 && around.length === 0) return null;
  const link = (each: number) => (
    <a href={hashOfCall(model.report.spans.op[each] ?? '')}>
      {model.titleOf(each)} {model.aboutOf(each).slice(0, 80)}
    </a>
  );
  return (
    <>
      {around.length > 0 && (
        <div class="text">
          <h3>Inside of</h3>
          <ol class="plain around">
            {around.map((each) => (
              <li key={each}>{link(each)}</li>
            ))}
          </ol>
        </div>
      )}
      {children.length > 0 && (
        <div class="text">
          <h3>Has inside</h3>
          <ul class="plain">
            {children.slice(0, INSIDE_SHOWN).map((each) => (
              <li key={each}>
                <span class={`state ${model.stateOf(each)}`}>{link(each)}</span>
              </li>
            ))}
          </ul>
          {children.length > INSIDE_SHOWN && <p class="muted">and {number(children.length - INSIDE_SHOWN)} more</p>}
        </div>
      )}
    </>
  );
}
