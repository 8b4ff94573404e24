/** Reads the words behind `mlld run` for a workflow script. workflows-js.md 12. */
import type { WorkflowSettings } from '../../src/api/commands/workflows/run.js';
import { MlldError } from '../../src/errors.js';
import { WORKFLOW_FLAGS } from '../command-table/workflow-flags.js';
import type { Io } from '../terminal/io.js';
import { refuseWorkers } from './refuse-workers.js';
import { parseWorkflowWords, tokensIn, type RunRequest } from './run-request.js';

export interface WorkflowRequest {
  readonly request: RunRequest;
  readonly settings: Omit<WorkflowSettings, 'home'>;
  /** A failed agent makes the exit status 1. */
  readonly isStrict: boolean;
}

/** Throws USAGE, BUDGET, WORKERS and WORKFLOW_ARGS. */
export async function parseWorkflowRequest(io: Pick<Io, 'stdin'>, argv: readonly string[]): Promise<WorkflowRequest> {
  refuseWorkers(argv, {
    executes: 'a workflow script or program executes its agents, calls and steps itself',
    hint: 'input of that name goes behind --, or into --args',
  });
  let totalTokens: number | undefined;
  const { request, last } = parseWorkflowWords(argv, WORKFLOW_FLAGS, (text) => {
    totalTokens = tokensIn(text);
    return totalTokens === undefined ? text : undefined;
  });
  const parallel = last('parallel');
  if (parallel !== undefined && !/^[1-9]\d{0,3}$/.test(parallel))
    throw new MlldError('USAGE', `Invalid parallel: ${parallel}`, { hint: '--parallel takes a whole number of at least 1' });
  const settings = {
    args: await argsOf(io, last('args'), request.payload),
    backend: last('backend'),
    model: last('model'),
    parallel: parallel === undefined ? undefined : Number(parallel),
    totalTokens,
  };
  return { request, settings, isStrict: last('strict') !== undefined };
}

async function argsOf(io: Pick<Io, 'stdin'>, written: string | undefined, flags: RunRequest['payload']): Promise<WorkflowSettings['args']> {
  const [flag] = Object.keys(flags);
  if (written === undefined) return flag === undefined ? [] : [flags];
  if (flag !== undefined)
    throw new MlldError('WORKFLOW_ARGS', `--args and --${flag} both are the input of the script`, {
      hint: `put ${flag} into --args, as a member of an object`,
    });
  const text = written === '-' ? ((await io.stdin()) ?? '') : written;
  try {
    return [JSON.parse(text)];
  } catch (error) {
    if (!/^\s*[[{]/.test(text)) return [text];
    throw new MlldError('WORKFLOW_ARGS', `--args begins like JSON and is none: ${(error as Error).message}`, {
      hint: 'a text that begins with { or [ must be written as JSON: --args \'"{…"\'',
      cause: error,
    });
  }
}
