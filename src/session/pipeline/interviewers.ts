/** Chooses the person or program that answers the questions of a run. graph-pipelines.md 12.1. */
import type { OpPath } from '../../../journal/ids.js';
import type { Dispatcher } from '../../calls/dispatch/dispatcher.js';
import { consoleInterviewer } from '../../pipeline/human/console.js';
import { autoApproveInterviewer, queueInterviewer, type Interviewer } from '../../pipeline/human/interviewer.js';
import { remoteInterviewer } from '../../pipeline/human/remote.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { World } from '../../world/world.js';
import type { OpenedJournal } from '../ports/opened-journal.js';

export function interviewerFor({ people, io }: PipelineRunOptions, world: World, runFolder: string): Interviewer {
  switch (people) {
    case 'auto':
      return autoApproveInterviewer();
    case 'stdin':
      return queueInterviewer(linesOf(world));
    case 'remote':
      return remoteInterviewer(world, runFolder);
    case 'console':
      return consoleInterviewer({ write: io.stderr, readLine: io.readLine ?? linesOf(world) });
    default:
      return people;
  }
}

/** The interval of looks whether the store still takes what the run records. */
const OWNER_LOOK_MS = 2000;

/** Stands for the wait among the calls that can't begin any more. */
const WAIT = { op: 'main' as OpPath, fn: 'person', lane: 'person', isRetry: false };

export interface OwnedPorts {
  readonly world: World;
  readonly journal: Pick<OpenedJournal, 'checkOwner'>;
  readonly dispatcher: Pick<Dispatcher, 'refuse'>;
}

/**
 * Looks, while a person is waited for, whether another process has taken the run: a run that waits appends nothing, so it would wait for
 * ever for an answer to a question that nobody sees any more. team-store.md 4.5.
 */
export function whileOwned(interviewer: Interviewer, { world, journal, dispatcher }: OwnedPorts): Interviewer {
  if (interviewer.answersAtOnce) return interviewer;
  const look = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await world.perform('clock.sleep', { ms: OWNER_LOOK_MS }, { signal });
      if (!signal.aborted && !(await journal.checkOwner())) return dispatcher.refuse(WAIT); // ends the run when no call is in flight
    }
  };
  return {
    by: interviewer.by,
    onUnmatched: interviewer.onUnmatched,
    async ask(question, signal) {
      const answered = new AbortController();
      look(AbortSignal.any([signal, answered.signal])).catch(() => undefined); // the world refuses to wait when the run ends
      try {
        return await interviewer.ask(question, signal);
      } finally {
        answered.abort();
      }
    },
    inform: (message, stage) => interviewer.inform(message, stage),
  };
}

/** Returns lines of standard input, which is read as a whole when the first line is needed. */
function linesOf(world: World): () => Promise<string | undefined> {
  let lines: Promise<string[]> | undefined;
  const read = async (): Promise<string[]> => {
    const { text = '' } = await world.perform('stdin.read', {});
    return text.replace(/\r?\n$/, '').split(/\r?\n/);
  };
  return async () => (await (lines ??= read())).shift();
}
