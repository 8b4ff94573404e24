/** One attempt of a node with small real parts, for tests of a single handler: its files, artifacts and questions are kept in lists. */
import { pipelineState } from '../../replay/pipeline/pipeline-state.js';
import type { Fact, Json } from '../../journal/event.js';
import { compilePipeline } from '../../src/pipeline/model/compiled-pipeline.js';
import { preparePipeline } from '../../src/pipeline/model/prepare.js';
import type { PipelineServices, Stage } from '../../src/pipeline/stage/stage.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import type { World } from '../../src/world/world.js';
import { bareRun } from './bare-run.js';
import { pipeline } from './pipeline-run.js';

export interface BareStage {
  readonly stage: Stage;
  /** Facts of the pipeline that the handler recorded. */
  readonly facts: readonly Fact[];
  readonly files: ReadonlyMap<string, string>;
  readonly artifacts: ReadonlyMap<string, Json>;
}

export interface BareStageOptions {
  readonly context?: Stage['context'];
  readonly services?: Partial<PipelineServices>;
  readonly walkBranch?: Stage['walkBranch'];
  readonly signal?: AbortSignal;
  /** Performs all effects of the stage. */
  readonly perform?: (kind: string, request: unknown) => unknown;
}

/** The node `a` of a pipeline with this body. What a handler uses beyond these parts is missing, and the test fails. */
export function bareStage(body: string, options: BareStageOptions = {}): BareStage {
  const { context = {}, services = {}, walkBranch, perform } = options;
  const facts: Fact[] = [];
  const files = new Map<string, string>();
  const artifacts = new Map<string, Json>();
  const bare = bareRun();
  const world =
    perform === undefined ? bare.world : ({ perform: async (kind: string, request: unknown) => perform(kind, request) } as World);
  const frame = { ...bare.frame, run: { ...bare.run, world } };
  const compiled = compilePipeline(preparePipeline(pipeline(body)), new Set());
  const stage = {
    run: {
      pipeline: compiled,
      frame,
      secretSettings: new SecretRegistry(),
      ledger: { state: pipelineState.initial(), append: async (fact: Fact) => void facts.push(fact) },
      folder: { path: '/p/run' },
      checkpoint: { update: () => undefined, flush: async () => undefined },
      turns: { arrive: () => undefined, leave: () => undefined, next: async () => undefined },
      backend: undefined,
      backends: new Map(),
      workingDirectory: '/p',
      fileDirectory: '/p',
      warnOnce: () => undefined,
      ...services,
    },
    node: compiled.node('a'),
    visit: 1,
    attempt: 1,
    branch: undefined,
    nodeOp: 'main/a#1',
    nodeFrame: frame,
    frame,
    folder: {
      path: '/p/run/a',
      statusFile: '/p/run/a/status.json',
      contextFile: '/p/run/a/context.json',
      write: (name: string, text: string) => void files.set(name, text),
      settled: async () => undefined,
    },
    artifacts: { store: async (id: string, _name: string, data: Json) => void artifacts.set(id, data) },
    walks: [pipelineState.initial().main],
    promptHistory: { fidelity: { mode: 'truncate' }, thread: undefined },
    signal: options.signal ?? new AbortController().signal,
    context,
    answeredBefore: 0,
    answered: () => undefined,
    walkBranch,
  };
  // The parts above are those that a handler of a single node uses.
  return { stage: stage as unknown as Stage, facts, files, artifacts };
}
