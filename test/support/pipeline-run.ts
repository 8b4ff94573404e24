/** Runs pipelines in a fresh folder, with a journal in memory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { JournalEvent } from '../../journal/event.js';
import { workflowOf } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { checkpointOf, type Checkpoint } from '../../replay/pipeline/checkpoint-view.js';
import { newestChain } from '../../src/session/pipeline/history/chain.js';
import { workflowFor } from '../../src/session/project.js';
import { replayRun } from '../../src/session/rerun/replay.js';
import { runPipeline } from '../../src/session/pipeline/run-pipeline.js';
import type { PipelineReport, PipelineRunOptions } from '../../src/session/pipeline/run-pipeline-options.js';

export interface PipelineRun {
  readonly report: PipelineReport;
  /** The events of this run and of the runs that it was restarted as. */
  readonly events: readonly JournalEvent[];
  readonly checkpoint: Checkpoint;
  readonly stderr: string;
  readonly findings: string;
}

export interface Workshop {
  readonly folder: string;
  readonly store: JournalStore;
  write(name: string, text: string): void;
  read(name: string): string;
  run(options?: Partial<PipelineRunOptions>): Promise<PipelineRun>;
  /** Returns the options of a run in this folder. */
  options(): PipelineRunOptions;
  /** As `run`, but returns only the report. */
  begin(options?: Partial<PipelineRunOptions>): Promise<PipelineReport>;
  remove(): void;
}

/** Runs as the workshop does, with the same backends in a replay of the record, which must say the same once more. */
export async function runAndReplay(place: Workshop, options: Partial<PipelineRunOptions>): Promise<PipelineRun> {
  const ran = await place.run(options);
  const { ref } = (await place.store.runs(workflowOf('p.dot'))).at(-1) ?? {};
  if (ref === undefined || !(await place.store.find(ref.run))) return ran;
  const { backend, backends } = options;
  const sinks = { stdout: () => undefined, stderr: () => undefined };
  const own = { ...(backend !== undefined && { backend }), ...(backends && { backends }) };
  const { divergences, walk } = await replayRun({ store: place.store, ref, root: '/nowhere', divergences: 'first', sinks, ...own });
  expect(divergences).toEqual([]);
  expect(walk?.history).toEqual(ran.checkpoint.node_history);
  expect(walk?.context).toEqual(ran.checkpoint.context);
  return ran;
}

/** `start` and `exit` are there already. */
export function pipeline(body: string, attributes = ''): string {
  return `digraph g {\n${attributes}\nstart [shape=Mdiamond]\nexit [shape=Msquare]\n${body}\n}`;
}

export function workshop(text: string, store: JournalStore = openMemoryStore()): Workshop {
  const folder = mkdtempSync(path.join(tmpdir(), 'mlld-graph-'));
  const file = path.join(folder, 'p.dot');
  writeFileSync(file, text);
  const project = {
    root: folder,
    config: { scriptDir: 'llm/run', prefixes: [], suppressWarnings: [] },
  } as unknown as PipelineRunOptions['project'];
  let said = '';
  let found = '';
  let events: JournalEvent[] = [];
  const ofRun = (): PipelineRunOptions => ({
    file,
    name: 'p.dot',
    project,
    workingDirectory: folder,
    argv: [],
    set: {},
    checkpoint: false,
    people: 'auto',
    environment: { PATH: process.env['PATH'] },
    io: {
      stdin: async () => undefined,
      stdout: () => undefined,
      stderr: (line) => void (said += line),
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
    },
    signal: new AbortController().signal,
    openStore: async () => store,
    onEvent: (event) => void events.push(event),
    onFindings: ({ diagnostics }) => void (found += diagnostics.map(({ rule }) => rule).join(' ')),
  });
  const begin = (options: Partial<PipelineRunOptions> = {}): Promise<PipelineReport> => runPipeline({ ...ofRun(), ...options });
  return {
    folder,
    store,
    write: (name, content) => writeFileSync(path.join(folder, name), content),
    read: (name) => readFileSync(path.join(folder, name), 'utf8'),
    options: ofRun,
    begin,
    async run(options) {
      [said, found, events] = ['', '', []];
      const report = await begin(options);
      const chain = await newestChain(store, workflowFor(project, file));
      if (!chain) return { report, events, checkpoint: {} as Checkpoint, stderr: said, findings: found };
      return { report, events, checkpoint: checkpointOf(chain.state), stderr: said, findings: found };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Node and status of what finished, in order, branches too. */
export function finishedNodes(events: readonly JournalEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'node.finished' ? [`${event.node}:${event.status}`] : []));
}
