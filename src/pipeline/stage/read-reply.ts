/** Reads what a program replied to the call of a stage: the reply, what it says about usage, and the outcome that it reports. */
import type { AdapterName, Reply } from '../../calls/replies/reply.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { Failure } from '../../calls/failure.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { Frame } from '../../runtime/frame.js';
import type { CommandResult } from '../../world/world.js';
import { StageError, type StageOutcome } from '../model/outcome.js';
import { commandFailed } from './run-stage-command.js';
import type { Stage } from './stage.js';
import { readStatusReport } from './status-report.js';

interface Program {
  readonly commandLine: string;
  /** The adapter of a program that is known; without it the reply is recognised, and its text stays what it was. */
  readonly adapter?: AdapterName;
}

/** Returns the reply and the content of the status file. Throws the failure of the attempt. calls.md 4 and 7. */
export async function readStageReply(
  stage: Stage,
  frame: Frame,
  result: CommandResult,
  { commandLine, adapter }: Program,
): Promise<{ readonly read: ReadReply; readonly report: StageOutcome | undefined }> {
  const { attempt } = frame;
  if (!attempt) throw new Error('a backend executes inside the call of its stage only');
  const { stdout, stderr, exitCode }: Reply = result;
  const read = attempt.readOwn({ stdout, stderr, exitCode }, commandLine, adapter);
  const report = await reported(() => readStatusReport(stage, frame));
  const { failure } = read;
  if (!failure) return { read, report };
  // A failing command is never a success; its file may only choose between failing and a retry. A provider's word is stronger than it.
  if (failure.class !== 'crash' || (report?.status !== 'fail' && report?.status !== 'retry')) throw failedWith(failure, result);
  const { failure: _stated, ...others } = read;
  attempt.reply = others;
  return { read: others, report };
}

/** Makes a report that can't be used, or that is missing, a bad reply of the attempt. */
export async function reported<T>(report: () => T | Promise<T>): Promise<T> {
  try {
    return await report();
  } catch (error) {
    if (!(error instanceof StageError)) throw error;
    throw new AttemptFailed({ class: 'bad-reply', evidence: 'envelope', message: error.message }, { cause: error });
  }
}

/** The status of the command is the reason of a failure that nothing else is known about. */
function failedWith(failure: Failure, result: CommandResult): Error {
  return failure.class === 'crash' && failure.evidence === 'none' ? commandFailed(result) : new AttemptFailed(failure);
}
