/** Opens the journal of a pipeline's run, and creates the frame of its stages. Both are those of scripts, with other options. */
import type { Script } from '../../../grammar/ast.js';
import { isRunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { MlldError } from '../../errors.js';
import { execute } from '../../language/evaluate.js';
import type { Frame } from '../../runtime/frame.js';
import { createModule } from '../../language/source-module.js';
import type { SecretRegistry } from '../../runtime/secrets/secret-registry.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import type { CallRuntime } from '../../runtime/calls/call-runtime.js';
import { baseFolder } from '../project.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { PipelineRecord, RunOptions } from '../script/run-options.js';
import type { World } from '../../world/world.js';
import { createDocument } from '../script/document.js';
import type { OpenedJournal } from '../ports/opened-journal.js';
import { openJournal } from '../ports/open-journal.js';
import type { RunRecorder } from '../ports/recorder.js';
import { rootFrame, createRunState } from '../script/root-frame.js';
import { settingsFor } from '../script/settings.js';

/** A pipeline has no statements; the options alone decide what is recorded. */
const NO_SCRIPT: Script = { statements: [] } as unknown as Script;

/** Throws PIPELINE_JOURNAL: without a journal there is no checkpoint to keep. */
export async function openPipelineJournal(
  options: PipelineRunOptions,
  {
    store,
    world,
    calls,
    secrets,
    signal,
    ...record
  }: PipelineRecord & {
    readonly store: JournalStore;
    readonly world: World;
    readonly calls: CallRuntime;
    readonly secrets: SecretRegistry;
    readonly signal: AbortSignal;
  },
): Promise<OpenedJournal> {
  const base = scriptOptions(options, record);
  const cache = { ...base.cache, forks: await forkSources(options, store) };
  const asScript = { ...base, cache, openStore: async () => store };
  const settings = await settingsFor(asScript, baseFolder(options.project, options.file), world);
  const journal = await openJournal(asScript, NO_SCRIPT, { world, secrets, signal, calls, inputs: { settings, state: undefined } });
  await journal.started;
  if (journal.ref) return journal;
  throw new MlldError('PIPELINE_JOURNAL', 'The journal of the run could not be opened, and a pipeline does not run without one', {
    hint: 'see the warning above; the folder .mlld has to be writable',
  });
}

/** A run id means its pipeline up to the end of that run. */
export async function forkSources({ forks = [] }: PipelineRunOptions, store: JournalStore): Promise<readonly string[]> {
  const sources: string[] = [];
  for (const text of forks) {
    const ref = isRunId(text) ? await store.find(text) : undefined;
    sources.push(ref ? `${ref.workflow}@${ref.run}` : text);
  }
  return sources;
}

export interface FrameParts {
  readonly world: World;
  readonly text: string;
  readonly recorder: RunRecorder;
  readonly trace: OpenedJournal['trace'];
  readonly cache: ResultCache;
  readonly secrets: SecretRegistry;
  readonly signal: AbortSignal;
  readonly calls: CallRuntime;
}

/** Creates the frame of the whole run. Its module is the pipeline's file, so that locations in messages point there. */
export async function frameOfPipeline(options: PipelineRunOptions, { text, ...ports }: FrameParts): Promise<Frame> {
  const asScript = scriptOptions(options, undefined);
  const directory = baseFolder(options.project, options.file);
  const settings = await settingsFor(asScript, directory, ports.world);
  const document = createDocument({ streaming: true, collects: false });
  const run = createRunState({ options: asScript, ...ports, document, settings, state: undefined, watchOutput: options.watchOutput });
  const module = createModule({ path: options.file, display: options.name, directory, text, isMain: true });
  return rootFrame(run, module, execute);
}

function scriptOptions(options: PipelineRunOptions, record: PipelineRecord | undefined): RunOptions {
  const {
    file,
    name,
    project,
    workingDirectory,
    argv,
    set,
    keepOrphans = false,
    environment,
    io,
    signal,
    journalWaitMs,
    unrecorded,
    verbose,
    onProgress,
  } = options;
  return {
    script: { kind: 'file', path: file },
    name,
    project,
    workingDirectory,
    argv,
    payload: set,
    inject: [],
    state: [],
    cache: { checkpoint: true, keepOrphans },
    environment,
    errorBehavior: 'halt',
    streaming: true,
    structured: false,
    io,
    signal,
    journalWaitMs,
    unrecorded,
    verbose,
    ...(onProgress && { onProgress }),
    pipeline: record,
  };
}
