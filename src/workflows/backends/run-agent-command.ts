/** Runs a program that answers an agent call, and reads what it says about itself. workflows-js.md 9.1 to 9.3. */
import type { FailureClass } from '../../calls/failure.js';
import type { ReadReply } from '../../calls/replies/read-reply.js';
import type { AdapterName } from '../../calls/replies/reply.js';
import { commandText } from '../../calls/backends/programs.js';
import { performEffect } from '../../operation/perform-effect.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { Frame } from '../../runtime/frame.js';
import type { CommandResult } from '../../world/world.js';
import type { AgentAttempt } from './backend.js';

interface AgentCommand {
  /** A line for the shell, or the words of a program. */
  readonly command: string | readonly string[];
  readonly stdin: string;
  /** The adapter of a program that is known. */
  readonly adapter?: AdapterName;
  readonly schemaFile?: string | undefined;
}

/** Statuses by which a command says how it failed. */
const EXITS: { readonly [status: number]: FailureClass } = { 75: 'rate-limit', 77: 'quota' };
/** The status by which a shell says that there is no such program. */
const NOT_FOUND = 127;

/** Returns what the program printed and what was read of it. Throws the failure of the attempt. */
export async function runAgentCommand(
  frame: Frame,
  attempt: AgentAttempt,
  { command, stdin, adapter, schemaFile }: AgentCommand,
): Promise<{ readonly printed: string; readonly read: ReadReply }> {
  const { reportFiles } = frame.run.calls ?? {};
  const usageFile = reportFiles?.create();
  let said: string | undefined;
  let result: CommandResult;
  try {
    const code = typeof command === 'string' ? command : commandText(command);
    result = await performEffect(frame, 'command.run', {
      language: 'cmd',
      code,
      ...(typeof command === 'string' ? {} : { words: command }),
      directory: attempt.directory,
      variables: variablesOf(attempt, { schemaFile, usageFile }),
      stdin,
    });
  } finally {
    said = usageFile === undefined ? undefined : reportFiles?.take(usageFile);
  }
  reportUsage(frame, said);
  const { stdout, stderr, exitCode } = result;
  const byStatus = typeof command === 'string' ? EXITS[exitCode] : undefined;
  if (byStatus) throw new AttemptFailed({ class: byStatus, evidence: 'exit', message: lastLine(stderr) || lastLine(stdout) });
  const line = typeof command === 'string' ? command : commandText(command);
  const inner = frame.attempt;
  if (!inner) throw new Error('a backend is asked inside an agent call only');
  const read = inner.readOwn({ stdout, stderr, exitCode }, line, adapter);
  const { failure } = read;
  if (failure) {
    if (exitCode === NOT_FOUND && typeof command !== 'string')
      throw new AttemptFailed({ ...failure, message: `the program ${command[0]} was not found: install it, or name another backend` });
    throw new AttemptFailed({ ...failure, message: failure.message || lastLine(stderr) || `the command ended with status ${exitCode}` });
  }
  return { printed: stdout, read };
}

function variablesOf(
  { request, model, key, sample, attempt }: AgentAttempt,
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
    KEY: key,
    SAMPLE: String(sample),
    ATTEMPT: String(attempt),
    SCHEMA: schemaFile,
    USAGE: usageFile,
  };
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[`MLLD_AGENT_${name}`, value]])),
  );
}

/** `{"input_tokens", "output_tokens", "cost_usd", "model"}` */
function reportUsage({ attempt }: Frame, said: string | undefined): void {
  if (said === undefined || said.trim() === '') return;
  let members: unknown;
  try {
    members = JSON.parse(said);
  } catch {
    return attempt?.report?.usage('the file of MLLD_AGENT_USAGE, which holds no JSON'); // it warns of what it can't read
  }
  if (typeof members !== 'object' || members === null) return attempt?.report?.usage(members);
  const {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
    model,
    ...rest
  } = members as { [name: string]: unknown };
  const known = { inputTokens, outputTokens, costUsd, model, ...rest };
  attempt?.report?.usage(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)));
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
