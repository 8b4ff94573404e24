/** Runs pipelines with a journal on disk, for tests that tear or damage it and resume from the rest. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalEvent } from '../../journal/event.js';
import type { Backends } from '../../src/pipeline/stage/backend.js';
import type { Handlers } from '../../src/pipeline/handlers/handler.js';
import { outcomeOf, StageError } from '../../src/pipeline/model/outcome.js';
import type { PipelineReport, PipelineRunOptions } from '../../src/session/pipeline/run-pipeline-options.js';
import { workshop, type Workshop } from './pipeline-run.js';

/** Stages that count how often they are executed, by node and visit. Model stages have the backend `paid`. */
interface Counted {
  readonly handlers: Handlers;
  readonly backends: Backends;
  readonly models: Map<string, number>;
  readonly tools: Map<string, number>;
}

/** A stage of type `work` does its work; one of type `last` ends as `last` does. */
function counted(last: () => Promise<void>): Counted {
  const models = new Map<string, number>();
  const tools = new Map<string, number>();
  const count = (of: Map<string, number>, name: string): void => void of.set(name, (of.get(name) ?? 0) + 1);
  const backends: Backends = new Map([
    [
      'paid',
      () => ({
        name: 'paid',
        async execute({ node, visit }) {
          count(models, `${node.id}#${visit}`);
          const reply = `${node.id} says ${visit}`;
          if (node.id !== 'again') return { reply };
          return { reply, outcome: outcomeOf('success', { context_updates: { laps: visit > 0 ? 'done' : 'one' } }) };
        },
      }),
    ],
  ]);
  const handlers: Handlers = new Map([
    [
      'work',
      {
        handle: async ({ node, visit }) => {
          count(tools, `${node.id}#${visit}`);
          return outcomeOf('success', { context_updates: { [`${node.id}.made`]: 'a plank' } });
        },
      },
    ],
    [
      'last',
      {
        handle: async ({ node, visit }) => {
          count(tools, `${node.id}#${visit}`);
          return last().then(() => outcomeOf('success'));
        },
      },
    ],
  ]);
  return { models, tools, backends, handlers };
}

export async function tideIsOut(): Promise<void> {
  throw new StageError('permanent', 'the tide is out');
}

export interface RecordedPipeline {
  readonly text: string;
  readonly folder: string;
  /** The lines of its only run. */
  readonly lines: readonly string[];
  readonly events: readonly JournalEvent[];
  readonly ran: Counted;
  readonly status: string;
}

/** Runs it once; `last` is how its last stage ends. */
export async function recordPipeline(text: string, last: () => Promise<void>, places: Workshop[]): Promise<RecordedPipeline> {
  const place = workshop(text);
  places.push(place);
  const ran = counted(last);
  const { status } = await place.begin({ ...withStoreIn(place.folder), ...ran });
  const lines = readFileSync(journalIn(place.folder), 'utf8').trimEnd().split('\n');
  return { text, folder: place.folder, lines, events: lines.map((line) => JSON.parse(line) as JournalEvent), ran, status };
}

/** Resumes from another text of the journal, in a folder of its own. `last` succeeds then. */
export async function resumeWith(
  { text, folder }: RecordedPipeline,
  journal: string,
  options: Partial<PipelineRunOptions> = {},
): Promise<{ readonly status: string; readonly said: string; readonly report: PipelineReport; readonly again: Counted }> {
  const place = workshop(text);
  try {
    mkdirSync(path.join(place.folder, '.mlld'), { recursive: true });
    cpSync(path.join(folder, '.mlld', 'journal'), path.join(place.folder, '.mlld', 'journal'), { recursive: true });
    writeFileSync(journalIn(place.folder), journal);
    const again = counted(async () => undefined);
    const { report, stderr } = await place.run({ ...withStoreIn(place.folder), resume: '', ...again, ...options });
    return { status: report.status, said: stderr, report, again };
  } finally {
    place.remove();
  }
}

const withStoreIn = (folder: string): Partial<PipelineRunOptions> => ({
  openStore: async (sealingKey) => openFileStore(folder, { sealingKey }),
});

function journalIn(folder: string): string {
  const runs = path.join(folder, '.mlld', 'journal', 'p.dot', 'runs');
  const [name] = readdirSync(runs).filter((entry) => entry.endsWith('.ndjson'));
  return path.join(runs, name as string);
}
