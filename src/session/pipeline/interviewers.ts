/** Chooses the person or program that answers the questions of a run. graph-pipelines.md 12.1. */
import { consoleInterviewer } from '../../pipeline/human/console.js';
import { autoApproveInterviewer, queueInterviewer, type Interviewer } from '../../pipeline/human/interviewer.js';
import { remoteInterviewer } from '../../pipeline/human/remote.js';
import type { PipelineRunOptions } from './run-pipeline-options.js';
import type { World } from '../../world/world.js';

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

/** Returns lines of standard input, which is read as a whole when the first line is needed. */
function linesOf(world: World): () => Promise<string | undefined> {
  let lines: Promise<string[]> | undefined;
  const read = async (): Promise<string[]> => {
    const { text = '' } = await world.perform('stdin.read', {});
    return text.replace(/\r?\n$/, '').split(/\r?\n/);
  };
  return async () => (await (lines ??= read())).shift();
}
