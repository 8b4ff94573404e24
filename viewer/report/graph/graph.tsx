/** Shows a pipeline: its drawing, the visits of its nodes with edges, conditions and context, and the context as it was last. */
import { duration } from '../../../cli/render/units.js';
import type { Model, PageData } from '../model/page-model.js';
import { hashOfCall, hashOfNode } from '../model/route.js';
import { openQuestions } from '../model/verdict-words.js';
import { DrawingCard } from './drawing.js';

type Pipeline = NonNullable<PageData['pipeline']>;
type Step = Pipeline['steps'][number];

export function Graph({ model, node }: { readonly model: Model; readonly node: string }) {
  const { pipeline } = model.data;
  if (!pipeline) return null;
  const steps = pipeline.steps.filter((step) => node === '' || step.node === node);
  const choose = (to: string): void => void (location.hash = hashOfNode(to));
  return (
    <div class="graph">
      <DrawingCard pipeline={pipeline} chosen={node} choose={(to) => choose(to === node ? '' : to)} />
      <section class="card" id="visits" aria-labelledby="title-visits" aria-live="polite">
        <div class="row">
          <h2 id="title-visits">Visits{node === '' ? '' : ` of ${node}`}</h2>
          {node !== '' && (
            <button type="button" onClick={() => choose('')}>
              Show all
            </button>
          )}
        </div>
        {steps.length === 0 && <p class="muted">Not visited yet.</p>}
        <ol class="groups visits">
          {steps.map((step) => (
            <Visit key={`${step.run ?? ''} ${step.op}`} step={step} model={model} isChosen={node !== ''} />
          ))}
        </ol>
      </section>
      {pipeline.context.length > 0 && (
        <section class="card" id="context" aria-labelledby="title-context">
          <h2 id="title-context">Context</h2>
          <dl class="values">
            {pipeline.context.map(([key, value]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </div>
  );
}

interface VisitProps {
  readonly step: Step;
  readonly model: Model;
  /** The visits of one node are shown whole. */
  readonly isChosen: boolean;
}

function Visit({ step, model, isChosen }: VisitProps) {
  const { op, run, node, visit, handler, atMs, attempts, durationMs, reason, retries, notes, output, changes, edges } = step;
  const status = step.status === 'unfinished' ? statusOfUnfinished(step, model) : step.status;
  const taken = edges.length === 1 ? edges[0] : undefined;
  return (
    <li>
      <span class="took">{duration(atMs)}</span>
      <div class="visit">
        <p>
          {run !== null || model.spanAt(op) === undefined ? <b>{node}</b> : <a href={hashOfCall(op)}>{node}</a>}
          {visit > 0 && ` (visit ${visit + 1})`} <span class={`pill ${PILLS[status] ?? ''}`}>{status.replace('_', ' ')}</span>{' '}
          <span class="muted">
            {KINDS[handler] ?? handler}
            {durationMs !== null && `, ${duration(durationMs)}`}
            {attempts > 1 && `, ${attempts} attempts`}
            {run !== null && `, in run ${run}`}
          </span>
        </p>
        {reason !== '' && <p class="message">{reason}</p>}
        {notes !== '' && notes !== reason && <p>{notes}</p>}
        {taken?.condition === null && taken.via !== null ? (
          <p class="muted">
            → {taken.to}
            {taken.label !== '' && ` “${taken.label}”`}
          </p>
        ) : (
          edges.length > 0 && <Edges edges={edges} />
        )}
        {retries.length > 0 && (
          <details open={isChosen}>
            <summary>Tried again</summary>
            <ul class="plain">
              {retries.map((words, place) => (
                <li key={place}>{words}</li>
              ))}
            </ul>
          </details>
        )}
        {output !== '' && (
          <details open={isChosen}>
            <summary>Output</summary>
            <pre tabIndex={0} role="group" aria-label={`Output of ${node}`}>
              {output}
            </pre>
          </details>
        )}
        {changes.length > 0 && (
          <details>
            <summary>Context: {changes.map(([key]) => key).join(', ')}</summary>
            <dl class="values">
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

/** Says the same as the drawing: a node without an end is in flight, asks somebody, or ended with its run. */
function statusOfUnfinished({ run, node }: Step, { data, report }: Model): string {
  if (run !== null || report.status !== 'running') return 'interrupted';
  return openQuestions(data).some((question) => question.node === node) ? 'waiting' : 'running';
}

const PILLS: { readonly [status: string]: string } = {
  fail: 'failed',
  success: 'executed',
  partial_success: 'executed',
  running: 'running',
  waiting: 'waiting',
  interrupted: 'interrupted',
};

/** The words of drawings. */
const KINDS: { readonly [handler: string]: string } = {
  codergen: 'model',
  tool: 'command',
  'wait.human': 'person',
  conditional: 'condition',
  'parallel.fan_in': 'join',
  'stack.manager_loop': 'pipeline',
};

function Edges({ edges }: { readonly edges: Step['edges'] }) {
  return (
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
  );
}
