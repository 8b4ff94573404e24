/**
 * Asks a command: the prompt is on its standard input, the rest in its environment, and it may say something about itself.
 * workflows-js.md 9 to 9.3.
 */
import type { ReportFolder } from '../../calls/body-report.js';
import type { FailureClass } from '../../calls/failure.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { AdapterName } from '../../calls/replies/reply.js';
import { commandOf } from '../../calls/backends/programs.js';
import { isObject } from '../../../journal/json-object.js';
import { performEffect } from '../../operation/perform-effect.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { Frame } from '../../runtime/frame.js';
import { WorldError, type CommandResult } from '../../world/world.js';
import type { AgentAttempt, AgentBackend } from './backend.js';

/** Asks a command of the user. */
export function commandBackend(command: string): AgentBackend {
  return {
    name: `cmd:${command}`,
    async ask(frame, attempt) {
      const { printed } = await runAgentCommand(frame, attempt, () => ({ command, stdin: attempt.prompt }));
      return { text: printed.replace(/[\r\n]+$/, '') };
    },
  };
}

interface AgentCommand {
  /** A line for the shell, or the words of a program. */
  readonly command: string | readonly string[];
  readonly stdin: string;
  /** The adapter of a program that is known. */
  readonly adapter?: AdapterName;
}

/** Statuses by which a command says how it failed. */
const EXITS: { readonly [status: number]: FailureClass } = { 75: 'rate-limit', 77: 'quota' };
/** The status by which a shell says that there is no such program. */
const NOT_FOUND = 127;

/**
 * Returns what the program printed and what was read of it. Throws the failure of the attempt. The schema of the call, if it has one, is in
 * a file for as long as the command runs.
 */
export async function runAgentCommand(
  frame: Frame,
  attempt: AgentAttempt,
  commandFor: (schemaFile: string | undefined) => AgentCommand,
): Promise<{ readonly printed: string; readonly read: ReadReply }> {
  const { calls } = frame.run;
  const { reportFiles } = calls ?? {};
  const { schema } = attempt.request;
  const schemaFile = schema && reportFiles?.create();
  const usageFile = reportFiles?.create();
  const { command, stdin, adapter } = commandFor(schemaFile);
  const request = {
    ...commandOf(command),
    directory: attempt.directory,
    variables: variablesOf(attempt, { schemaFile, usageFile }),
    stdin,
  };
  let said: ReturnType<ReportFolder['take']>;
  let result: CommandResult;
  try {
    if (schemaFile !== undefined) await performEffect(frame, 'file.write', { path: schemaFile, text: JSON.stringify(schema) });
    result = await performEffect(frame, 'command.run', request);
  } finally {
    said = usageFile === undefined ? undefined : reportFiles?.take(usageFile);
    if (schemaFile !== undefined) reportFiles?.take(schemaFile);
  }
  if (said?.isCut) {
    // A part of it would be a wrong cost.
    if (calls?.isFirst('usage file')) frame.run.warn('the file of MLLD_AGENT_USAGE is ignored: it is larger than 1 MiB');
  } else if (said?.text.trim()) frame.attempt?.report?.usage(usageIn(said.text));
  const { stdout, stderr, exitCode } = result;
  const byStatus = typeof command === 'string' ? EXITS[exitCode] : undefined;
  if (byStatus) throw new AttemptFailed({ class: byStatus, evidence: 'exit', message: lastLine(stderr) || lastLine(stdout) });
  const inner = frame.attempt;
  if (!inner) throw new Error('a backend is asked inside an agent call only');
  const read = inner.readOwn({ stdout, stderr, exitCode }, request.code, adapter);
  const { failure } = read;
  if (failure && frame.run.signal.aborted) throw new WorldError('INTERRUPTED', 'interrupted: its program was ended with the run');
  if (failure) {
    if (exitCode === NOT_FOUND && typeof command !== 'string')
      throw new AttemptFailed({ ...failure, message: `the program ${command[0]} was not found: install it, or name another backend` });
    throw new AttemptFailed({ ...failure, message: failure.message || lastLine(stderr) || `the command ended with status ${exitCode}` });
  }
  return { printed: stdout, read };
}

function variablesOf(
  { request, model, taken, attempt }: AgentAttempt,
  { schemaFile, usageFile }: { readonly schemaFile: string | undefined; readonly usageFile: string | undefined },
): { readonly [name: string]: string } {
  const { label, phase, effort, agentType, isolation } = request;
  const members: { readonly [name: string]: string | undefined } = {
    LABEL: label,
    PHASE: phase,
    MODEL: model,
    EFFORT: effort,
    TYPE: agentType,
    ISOLATION: isolation,
    KEY: taken.key,
    SAMPLE: String(taken.number),
    ATTEMPT: String(attempt),
    SCHEMA: schemaFile,
    USAGE: usageFile,
  };
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[`MLLD_AGENT_${name}`, value]])),
  );
}

/** The names of members in the file of MLLD_AGENT_USAGE, and those of a report. */
const USAGE: { readonly [name: string]: string } = { input_tokens: 'inputTokens', output_tokens: 'outputTokens', cost_usd: 'costUsd' };

/** A text for what is no JSON: who is given it warns of what it can't read. */
function usageIn(said: string): unknown {
  try {
    const members: unknown = JSON.parse(said);
    if (!isObject(members)) return members;
    return Object.fromEntries(Object.entries(members).map(([name, value]) => [USAGE[name] ?? name, value]));
  } catch {
    return 'the file of MLLD_AGENT_USAGE, which holds no JSON';
  }
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
