/** Gathers what the page of a pipeline's run shows beside its calls: the drawing, and each visit with its edges and context. */
import { firstEvent } from '../../../replay/fold/fold-run.js';
import type { JournalEvent, Json } from '../../../journal/event.js';
import type { Routing } from '../../../journal/facts/pipeline-event.js';
import type { BlobId } from '../../../journal/ids.js';
import type { JournalStore, RunFile } from '../../../journal/store.js';
import type { PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { PagePipeline, PageStep } from '../../../replay/reports/page/page-data.js';
import { compilePipeline, type CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import { holds } from '../../pipeline/model/condition.js';
import { preparePipeline } from '../../pipeline/model/prepare.js';
import { openChain } from '../../session/pipeline/history/chain.js';
import { nodeStates } from '../../session/pipeline/history/node-states.js';

const STEPS_MAX = 2000;
const VALUE_UNITS = 500;
const OUTPUT_UNITS = 2000;

/** Null for the run of a script. The visits are those of the run and of the runs that it resumed. */
export async function readPipelinePage(
  store: JournalStore,
  file: RunFile,
  { draws }: { readonly draws: boolean },
): Promise<PagePipeline | null> {
  const first = await firstEvent(store, file.ref);
  if (first?.type !== 'run.started' || first.pipeline === undefined) return null;
  const { segments, state } = await openChain(store, file);
  const events: RecordedEvent[] = [];
  let source: BlobId | undefined;
  for (const { ref, until } of segments) {
    const run = ref.run === file.ref.run ? null : ref.run;
    await store.scan(ref, (event) => {
      if (until !== undefined && event.seq > until) return;
      if (event.type === 'source.loaded' && event.role === 'script' && run === null) source ??= event.blob;
      if (OF_WALKS.has(event.type)) events.push({ run, event });
    });
  }
  const content = source && (await store.getBlob(source));
  const text = content && Buffer.from(content).toString('utf8');
  const drawing = draws ? await drawingOf(file, state, text) : { svg: null, reason: null };
  const context = Object.entries(state.main.context).map(([key, value]) => [key, excerptOf(value)] as const);
  return { ...drawing, steps: stepsOf(events, planOf(text)), context };
}

export interface RecordedEvent {
  /** Null for the run of the page. */
  readonly run: string | null;
  readonly event: JournalEvent;
}

const OF_WALKS: ReadonlySet<string> = new Set<JournalEvent['type']>([
  'run.started',
  'node.started',
  'node.finished',
  'retry.scheduled',
  'edge.selected',
  'context.updated',
]);

async function drawingOf(
  { ref, liveness }: RunFile,
  state: PipelineState,
  text: string | undefined,
): Promise<Pick<PagePipeline, 'svg' | 'reason'>> {
  if (text === undefined) return { svg: null, reason: 'The journal does not have the text of the pipeline any more.' };
  try {
    const { renderGraph } = await import('../../pipeline/render/render-graph.js');
    return { svg: await renderGraph({ file: ref.workflow, text }, nodeStates(state, liveness)), reason: null };
  } catch (error) {
    // A page without a drawing says why, and has all the rest.
    return { svg: null, reason: (error as Error).message };
  }
}

function planOf(text: string | undefined): CompiledPipeline | undefined {
  try {
    return text === undefined ? undefined : compilePipeline(preparePipeline(text), new Set());
  } catch {
    return undefined; // an older text: its visits are shown without the edges that were not taken
  }
}

/** Folds the visits in order. The conditions of edges are evaluated as the walk did, with the context behind the visit. */
export function stepsOf(events: readonly RecordedEvent[], plan: CompiledPipeline | undefined): readonly PageStep[] {
  const steps = new Map<string, PageStep>();
  const latest = new Map<string, string>();
  let context: { readonly [key: string]: Json } = {};
  let startedMs = 0;
  for (const { run, event } of events) {
    if (event.type === 'run.started') startedMs = Date.parse(event.ts);
    else if (event.type === 'context.updated' && event.op === 'main') context = { ...context, ...event.updates };
    else if (event.type === 'node.started') {
      const { op, node, visit, handler } = event;
      const begun = {
        op,
        run,
        node,
        visit,
        handler,
        atMs: Date.parse(event.ts) - startedMs,
        status: 'unfinished',
        attempts: 1,
        durationMs: null,
      };
      steps.delete(op); // a visit that a resume began again is where it was begun last
      steps.set(op, { ...begun, reason: '', retries: [], notes: '', output: '', changes: [], edges: [] });
    } else if (event.type === 'retry.scheduled') {
      const step = steps.get(event.op) ?? steps.get(walkOf(event.op));
      if (step) steps.set(step.op, { ...step, retries: [...step.retries, `${event.reason} (again in ${event.delayMs} ms)`] });
    } else if (event.type === 'node.finished') {
      const begun = steps.get(event.op);
      const walk = walkOf(event.op);
      if (begun === undefined) continue;
      const { status, attempts, elapsedMs, outcome } = event;
      const changes = Object.entries(outcome.context_updates).map(([key, value]) => [key, excerptOf(value)] as const);
      if (walk === 'main') context = { ...context, ...outcome.context_updates };
      const { notes } = outcome;
      const output = excerptOf(event.excerpt ?? outputIn(outcome.context_updates), OUTPUT_UNITS);
      const edges = walk === 'main' ? edgesOf(plan, event.node, outcome.carried ?? outcome, context) : [];
      steps.set(event.op, {
        ...begun,
        status,
        attempts,
        durationMs: elapsedMs,
        reason: outcome.failure_reason,
        notes,
        output,
        changes,
        edges,
      });
      latest.set(walk, event.op);
    } else if (event.type === 'edge.selected') {
      const op = latest.get(event.op);
      const step = op === undefined ? undefined : steps.get(op);
      if (op === undefined || step?.node !== event.from) continue;
      const { to, via, label = '', condition = null } = event;
      const isTaken = (edge: PageStep['edges'][number]): boolean => edge.to === to && edge.condition === condition && edge.label === label;
      const place = step.edges.findIndex(isTaken);
      const edges =
        place < 0
          ? [{ to, label, condition, held: null, via }, ...step.edges]
          : step.edges.map((edge, number) => (number === place ? { ...edge, via } : edge));
      steps.set(op, { ...step, edges });
    }
  }
  return [...steps.values()].slice(0, STEPS_MAX);
}

function edgesOf(
  plan: CompiledPipeline | undefined,
  node: string,
  routing: Routing,
  context: { readonly [key: string]: Json },
): PageStep['edges'] {
  if (!plan?.has(node)) return [];
  return plan.outgoing(node).map(({ to, label, condition, conditionText }) => ({
    to,
    label,
    condition: conditionText ?? null,
    held: condition === undefined ? null : holds(condition, { routing, context }),
    via: null,
  }));
}

function walkOf(op: string): string {
  return op.slice(0, op.lastIndexOf('/'));
}

function outputIn(updates: { readonly [key: string]: Json }): string {
  const found = updates['tool.output'] ?? updates['last_response'] ?? updates['human.gate.label'];
  return typeof found === 'string' ? found : '';
}

function excerptOf(value: Json, unitsMax = VALUE_UNITS): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > unitsMax ? `${text.slice(0, unitsMax)}…` : text;
}
