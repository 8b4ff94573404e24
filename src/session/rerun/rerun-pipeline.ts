/**
 * A recorded run of a pipeline again: the walk, in the world of the record. Its stages ask as they did; every step that it takes is held
 * against the recorded one, so that history, outcomes and context come out the same or the replay says where not.
 */
import path from 'node:path';
import type { OpPath } from '../../../journal/ids.js';
import { graphState, type GraphState } from '../../../replay/pipeline/graph-state.js';
import type { Walk } from '../../../replay/pipeline/walk.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { isInside } from '../../../replay/fold/op-path.js';
import { isWhole } from '../../../replay/recording/recorded-world.js';
import { recordedWalk, type RecordedWalk } from '../../../replay/recording/recorded-walk.js';
import { MlldError } from '../../errors.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import { PipelineError } from '../../pipeline/model/outcome.js';
import { compilePipeline, type CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import { diagnosePipeline } from '../../pipeline/lint/diagnostics.js';
import { createRunFolder } from '../../pipeline/stage/run-folder.js';
import { createThreads } from '../../pipeline/stage/threads.js';
import { traverse } from '../../pipeline/walk/traverse.js';
import { execute } from '../../language/evaluate.js';
import type { Frame, RunState } from '../../runtime/frame.js';
import { createModule } from '../../language/source-module.js';
import { displayPath } from '../../language/paths.js';
import { SecretRegistry } from '../../runtime/secret-registry.js';
import { baseFolder } from '../project.js';
import type { Value } from '../../values/value.js';
import type { Divergence } from './divergence.js';
import { createDocument } from '../script/document.js';
import { stateBefore } from '../pipeline/history/chain.js';
import { initialContext } from '../pipeline/run-start.js';
import { rootFrame, createRunState } from '../script/root-frame.js';
import { replayImpossible, stopNotReached, numberedStop } from './replay-errors.js';
import { createReplayRuntime, endDivergences, inScope, type ReplayEnd, type ReplayRuntime } from './replay-runtime.js';
import type { ReplayableRun, ReplayReport, StopPoint } from './replay-options.js';
import { createReplayedBackends, type ReplayedBackends } from './replayed-backends.js';
import { createReplayedLedger, missingFact } from './replayed-ledger.js';
import { createReplayedStages, type ReplayedStages } from './replayed-stages.js';
import { isEndOfReplay } from './replayed-world.js';

export async function replayPipeline(replayed: ReplayableRun): Promise<ReplayReport> {
  const { options, recording, started, root } = replayed;
  const { store, ref, onEvent } = options;
  const walk = await foldRun(store, ref, recordedWalk);
  const lastSeq = stopIn(replayed, walk);
  let state = (await stateBefore(store, ref, started)) ?? graphState.initial();
  const lost = new Set(state.threads);
  state = graphState.apply(state, started, { ref, position: { offset: 0, bytes: 0 } });
  const setting = createReplayRuntime({
    options,
    recording,
    root,
    lastSeq,
    variablesAt: (frame, op) => [...(frame.op.path === op ? inScope(frame) : []), ...contextAt(ledger.state, op)],
    isCalledOff: ({ seq }) => isWhole(recording) || (walk.last !== undefined && seq < walk.last),
  });
  const { control: course, order, stuck } = setting;
  const models = createReplayedBackends({ store, walk, recording, order, diverge: course.diverge, stuck });
  const stages = createReplayedStages({ walk, recording, order, stuck });
  const plan = planIn(replayed, stages, models);
  const ledger = createReplayedLedger({ ref, walk, recording, state, lastSeq, onEvent }, setting);
  const frame = frameOf(replayed, setting);
  setting.enter(frame);
  const run = runOf(replayed, { plan, frame, ledger, stages, backends: models.backends, lost });

  const ended = walked(run, state, setting);
  const end = await Promise.race([ended, course.ended]);
  await setting.replayedWorld.world.close('the replay has ended');
  ended.catch(() => undefined); // what it may still say is about the end of the replay

  const stopped = setting.stopped();
  const divergences =
    stopped || course.divergences.length > 0
      ? course.divergences
      : leftOut(replayed, { walk, end, isOfAnother: (op) => stages.isInside(op) || models.isInside(op) });
  const verdict = stopped ? 'stopped' : divergences.length > 0 ? 'diverged' : isWhole(recording) ? 'same' : 'cut';
  const { main } = ledger.state;
  return {
    ref,
    verdict,
    status: recording.finished?.status,
    effects: setting.replayedWorld.effectCount(),
    divergences,
    walk: { pipeline: plan.graph.name, history: main.history, context: main.context },
    ...(stopped ? { stopped } : {}),
    ...(verdict === 'same' && end?.code !== undefined
      ? { error: new MlldError(end.code, frame.run.secrets.hideParts(end.message ?? '')) }
      : {}),
  };
}

/** The number of the last event that counts. A node is stopped at when it has first started. */
function stopIn({ options, recording }: ReplayableRun, { started }: RecordedWalk): number {
  const { until, ref } = options;
  if (!until || 'seq' in until) return numberedStop(options, recording) ?? Number.POSITIVE_INFINITY;
  const first = started.get(until.at);
  if (first) return first.seq;
  throw stopNotReached(ref, `node "${until.at}"`, [...started.keys()]);
}

function planIn(
  { options, text, file, settings }: ReplayableRun,
  { ownTypes }: ReplayedStages,
  { backends }: ReplayedBackends,
): CompiledPipeline {
  const name = displayPath(file, { workingDirectory: settings.workingDirectory });
  const { report, graph } = diagnosePipeline({ file: name, text }, { handlers: ownTypes, backends: new Set(backends.keys()) });
  if (graph) return compilePipeline(graph, ownTypes);
  const error = report.diagnostics.find(({ severity }) => severity === 'error');
  const why = `${error?.rule}: ${error?.message} (${name}:${error?.line}:${error?.column})`;
  throw options.scriptText === undefined
    ? replayImpossible(options.ref, why)
    : new MlldError('PIPELINE_INVALID', why, { hint: 'mlld validate FILE.dot shows all of it' });
}

/** Whatever a stage does about errors: where the record has no answer the replay is over. */
function frameOf(
  { options, settings, file, text, root }: ReplayableRun,
  { replayedWorld: replayed, hooks, recorder, cache: answers, control: course }: ReplayRuntime,
): Frame {
  const ask: NonNullable<RunState['replayed']>['perform'] = (frame, question, request) =>
    replayed.perform(frame, question, request).catch((error: unknown) => {
      if (isEndOfReplay(error)) course.end();
      throw error;
    });
  const run = createRunState({
    options: { io: { ...options.sinks, stdin: async () => undefined, nowMs: () => 0, monotonicMs: () => 0 } },
    world: replayed.world,
    replayed: { perform: ask, timeOut: hooks.timeOut },
    recorder,
    cache: { ...answers, policy: () => ({ records: true, reuses: true }) },
    secrets: new SecretRegistry(),
    document: createDocument({ streaming: true, collects: false }),
    settings,
    state: undefined,
    signal: course.signal,
  });
  const display = displayPath(file, { workingDirectory: settings.workingDirectory });
  const module = createModule({ path: file, display, directory: baseFolder({ root }, file), text, isMain: true });
  return rootFrame(run, module, execute);
}

interface Parts {
  readonly plan: CompiledPipeline;
  readonly frame: Frame;
  readonly ledger: PipelineRuntime['ledger'];
  readonly stages: ReplayedStages;
  readonly backends: PipelineRuntime['backends'];
  readonly lost: ReadonlySet<string>;
}

function runOf(
  { started, settings, file, root, options }: ReplayableRun,
  { plan, frame, ledger, stages, backends, lost }: Parts,
): PipelineRuntime {
  const never = (): never => {
    throw new Error('a stage that watches another run is not repeated');
  };
  const warned = new Set<string>();
  return {
    pipeline: plan,
    frame,
    secretSettings: new SecretRegistry(), // the record has marks in their places
    ledger,
    folder: createRunFolder(path.resolve(root, started.runDir ?? ''), frame.run.world),
    checkpoint: { update: () => undefined, flush: async () => undefined },
    handlers: stages.handlers,
    interviewer: stages.interviewer,
    threads: createThreads(lost),
    walk: traverse,
    backend: started.backend,
    backends,
    workingDirectory: settings.workingDirectory,
    fileDirectory: baseFolder({ root }, file),
    random: () => 0.5,
    wait: stages.wait,
    startChild: never,
    findChild: never,
    readArtifact: never,
    warnOnce(message) {
      if (!warned.has(message)) options.sinks.stderr(`warning: ${message}\n`);
      warned.add(message);
    },
  };
}

/** Undefined when the replay was over before. */
async function walked(
  run: PipelineRuntime,
  { given }: Pick<GraphState, 'given'>,
  { control: course }: ReplayRuntime,
): Promise<ReplayEnd | undefined> {
  const { ledger, frame, pipeline: plan } = run;
  try {
    if (!('graph.goal' in ledger.state.main.context)) {
      ledger.post({ type: 'context.updated', op: frame.op.path, updates: initialContext(plan, { given }), by: 'start' });
    }
    const end = await traverse(run, { frame, signal: course.signal, walks: [] });
    if (end.kind === 'failed') return { code: 'STAGE_FAILED', message: end.reason };
    return end.kind === 'restarted' ? { next: end.at } : {};
  } catch (error) {
    if (error instanceof PipelineError) return { code: 'PIPELINE_LIMIT', message: error.message };
    if (course.signal.aborted || isEndOfReplay(error)) return undefined;
    throw error;
  }
}

function leftOut(
  { recording }: ReplayableRun,
  {
    walk,
    end,
    isOfAnother,
  }: { readonly walk: RecordedWalk; readonly end: ReplayEnd | undefined; readonly isOfAnother: (op: OpPath) => boolean },
): readonly Divergence[] {
  const missing = isWhole(recording) ? missingFact(walk) : undefined;
  return missing ? [missing] : endDivergences(recording, end, ({ op }) => !isOfAnother(op));
}

/** Of the innermost walk that the operation is on. */
function contextAt({ main }: GraphState, op: OpPath): StopPoint['variables'] {
  let walk: Walk = main;
  for (let inner: Walk | undefined = main; inner; inner = [...walk.branches.values()].find((branch) => isInside(op, branch.path)))
    walk = inner;
  return Object.entries(walk.context).map(([name, value]) => ({ name, value: value as Value }));
}
