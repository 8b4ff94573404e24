/**
 * Takes answers from another process, `mlld answer` or a server, as files in the run's folder: only the run itself may write its journal.
 */
import path from 'node:path';
import type { World } from '../../world/world.js';
import { textAnswer, type Interviewer } from './interviewer.js';

const POLL_MS = 100;

/** No node id begins with a dot, so the folder can't be that of a stage. */
export function answerFile(runFolder: string, question: string): string {
  return path.join(runFolder, '.answers', `${question}.txt`);
}

export function remoteInterviewer(world: World, runFolder: string): Interviewer {
  return {
    by: 'remote',
    onUnmatched: 'ask-again',
    async ask({ id }, signal) {
      const file = answerFile(runFolder, id);
      while (!signal.aborted) {
        const found = await world.perform('file.read', { path: file });
        if ('text' in found) {
          await world.perform('file.remove', { path: file });
          return textAnswer(found.text);
        }
        await world.perform('clock.sleep', { ms: POLL_MS }, { signal });
      }
      return { kind: 'skipped' };
    },
    inform: () => undefined,
  };
}
