/**
 * Replays a recorded run of a pipeline: walks the graph again in the recorded world. Stages run again, and every step is compared with the
 * recorded one: history, outcomes and context are the same, or the replay reports where they differ.
 */
import path from 'node:path';
import type { OpPath } from '../../../journal/ids.js';
import { pipelineState, type PipelineState } from '../../../replay/pipeline/pipeline-state.js';
import type { Walk } from '../../../replay/pipeline/walk.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import { isInside } from '../../../replay/fold/op-path.js';
import { isWhole, type Recording } from '../../../replay/recording/recorded-world.js';
import { nextOutput, recordedWalk, type RecordedWalk } from '../../../replay/recording/recorded-walk.js';
import { MlldError } from '../../errors.js';
import type { PipelineRuntime } from '../../pipeline/walk/pipeline-runtime.js';
import { PipelineError } from '../../pipeline/model/outcome.js';
import { compilePipeline, type CompiledPipeline } from '../../pipeline/model/compiled-pipeline.js';
import { diagnosePipeline } from '../../pipeline/lint/diagnostics.js';
import { createRunFolder } from '../../pipeline/stage/run-folder.js';
import { createThreads } from '../../pipeline/stage/threads.js';
import { traverse } from '../../pipeline/walk/traverse.js';
import type { Frame } from '../../runtime/frame.js';
import { createModule } from '../../language/source-module.js';
import { displayPath } from '../../language/paths.js';
import { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import { baseFolder } from '../project.js';
import type { Value } from '../../values/value.js';
import type { Divergence } from './divergence.js';
import { stateBefore } from '../pipeline/history/chain.js';
import { tooManyRestarts } from '../pipeline/pipeline-end.js';
import { initialContext } from '../pipeline/run-start.js';
import { replayImpossible, stopNotReached, numberedStop } from './replay-errors.js';
import { endDivergences, type ReplayEnd } from './end-divergences.js';
import { createReplayRuntime, inScope, type ReplayRuntime } from './replay-runtime.js';
import type { ReplayableRun, ReplayReport, StopPoint } from './replay-options.js';
import { createReplayedBackends, type ReplayedBackends } from './replayed-backends.js';
import { createReplayedLedger, missingFact } from './replayed-ledger.js';
import { createReplayedStages, type ReplayedStages } from './replayed-stages.js';
import { endReplay, replayedFrame } from './replayed-run.js';
import { isEndOfReplay } from './replayed-world.js';

export async function replayPipeline(replayed: ReplayableRun): Promise<ReplayReport> {
  const { options, recording, started, root } = replayed;
  const { store, ref, onEvent } = options;
  const walk = await foldRun(store, ref, recordedWalk);
  const lastSeq = lastEventOf(replayed, walk);
  let state = (await stateBefore(store, ref, started)) ?? pipelineState.initial();
  const lostThreads = new Set(state.threads); // before the replay changes the state
  state = pipelineState.apply(state, started, { ref, position: { offset: 0, bytes: 0 } });
  const runtime = createReplayRuntime({
    options,
    recording,
    root,
    lastSeq,
    variablesAt: (frame, op) => [...(frame.op.path === op ? inScope(frame) : []), ...contextAt(ledger.state, op)],
    isCalledOff: ({ seq }) => isWhole(recording) || (walk.last !== undefined && seq < walk.last),
  });
  const { control, order, stuck } = runtime;
  const models = createReplayedBackends({ store, walk, recording, order, diverge: control.diverge, stuck });
  const stages = createReplayedStages({ walk, recording, order, stuck });
  const plan = planIn(replayed, stages, models);
  const ledger = createReplayedLedger({ ref, walk, recording, state, lastSeq, onEvent }, runtime);
  const frame = frameOf(replayed, runtime);
  const run = runOf(replayed, { walk, plan, frame, ledger, stages, backends: models.backends, lostThreads });

  const ended = walkAgain(run, { given: state.given, recording }, runtime);
  const end = await Promise.race([ended, control.ended]);
  ended.catch(() => undefined); // a later error is only about the end of the replay

  const { main } = ledger.state;
  return endReplay(replayed, runtime, {
    atEnd: () => leftOut(replayed, { walk, end, isNotReplayed: (op) => stages.isInside(op) || models.isInside(op) }),
    walk: { pipeline: plan.graph.name, history: main.history, context: main.context },
    error: end?.code === undefined ? undefined : new MlldError(end.code, frame.run.secrets.hideParts(end.message ?? '')),
  });
}

/** Returns the number of the last event to replay. A stop at a node is a stop at its first start. */
function lastEventOf({ options, recording }: ReplayableRun, { started }: RecordedWalk): number {
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

/** Ends the replay where the record lacks a result, however the stage handles errors. */
function frameOf(replayed: ReplayableRun, runtime: ReplayRuntime): Frame {
  const { settings, file, text, root } = replayed;
  const { replayedWorld, control } = runtime;
  const perform: typeof replayedWorld.perform = (frame, kind, request) =>
    replayedWorld.perform(frame, kind, request).catch((error: unknown) => {
      if (isEndOfReplay(error)) control.end();
      throw error;
    });
  const display = displayPath(file, { workingDirectory: settings.workingDirectory });
  const module = createModule({ path: file, display, directory: baseFolder({ root }, file), text, isMain: true });
  return replayedFrame(replayed, runtime, { module, perform, cache: { policy: () => ({ records: true, reuses: true }) } });
}

interface Parts {
  readonly walk: RecordedWalk;
  readonly plan: CompiledPipeline;
  readonly frame: Frame;
  readonly ledger: PipelineRuntime['ledger'];
  readonly stages: ReplayedStages;
  readonly backends: PipelineRuntime['backends'];
  readonly lostThreads: ReadonlySet<string>;
}

function runOf(
  { started, settings, file, root, options }: ReplayableRun,
  { walk, plan, frame, ledger, stages, backends, lostThreads }: Parts,
): PipelineRuntime {
  const never = (): never => {
    throw new Error('a stage that watches another run is not replayed');
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
    threads: createThreads(lostThreads),
    turns: stages.turns,
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
    recordedOutputId: (op, name) => nextOutput(walk, op, name),
    warnOnce(message) {
      if (!warned.has(message)) options.sinks.stderr(`warning: ${message}\n`);
      warned.add(message);
    },
  };
}

/** Undefined when the replay was ended before the walk was. */
async function walkAgain(
  run: PipelineRuntime,
  { given, recording }: Pick<PipelineState, 'given'> & Pick<ReplayableRun, 'recording'>,
  { control }: ReplayRuntime,
): Promise<ReplayEnd | undefined> {
  const { ledger, frame, pipeline: plan } = run;
  try {
    if (!('graph.goal' in ledger.state.main.context)) {
      ledger.post({ type: 'context.updated', op: frame.op.path, updates: initialContext(plan, { given }), by: 'start' });
    }
    const end = await traverse(run, { frame, signal: control.signal, walks: [] });
    if (end.kind === 'failed') return { code: 'STAGE_FAILED', message: end.reason };
    return end.kind === 'restarted' ? restarted(recording, end.at) : {};
  } catch (error) {
    if (error instanceof PipelineError) return { code: 'PIPELINE_LIMIT', message: error.message };
    if (control.signal.aborted || isEndOfReplay(error)) return undefined;
    throw error;
  }
}

/** The record of one run does not tell how many the command had begun before it. */
function restarted({ finished }: Recording, next: string): ReplayEnd {
  const { code, message } = tooManyRestarts();
  return finished?.error?.message === message ? { code, message } : { next };
}

function leftOut(
  { recording }: ReplayableRun,
  {
    walk,
    end,
    isNotReplayed,
  }: { readonly walk: RecordedWalk; readonly end: ReplayEnd | undefined; readonly isNotReplayed: (op: OpPath) => boolean },
): readonly Divergence[] {
  const missing = isWhole(recording) ? missingFact(walk) : undefined;
  return missing ? [missing] : endDivergences(recording, end, ({ op }) => !isNotReplayed(op));
}

/** Returns the context of the innermost walk that the operation belongs to. */
function contextAt({ main }: PipelineState, op: OpPath): StopPoint['variables'] {
  let walk: Walk = main;
  for (let inner: Walk | undefined = main; inner; inner = [...walk.branches.values()].find((branch) => isInside(op, branch.path)))
    walk = inner;
  return Object.entries(walk.context).map(([name, value]) => ({ name, value: value as Value }));
}
