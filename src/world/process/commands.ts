/**
 * Runs commands in other languages, each as a process. Values reach shells as environment variables while the system accepts them,
 * larger ones through a pipe of their own (one variable may have 128 KB on Linux, all together 1 MB on macOS).
 *
 * No command works before its process is recorded, and so before it gets input (PROCESS-7): on descriptor 3 a shell waits for a line,
 * Python for its program. When mlld is killed before, they read the end of the input there and end.
 */
import type { Json } from '../../../journal/event.js';
import type { ProcessRequest, ProcessRunner } from './process.js';
import { PYTHON_PROGRAM, pythonJob } from './python.js';
import { type EffectRequest, type EffectOptions, type CommandResult, WorldError } from '../world.js';

/** A larger text is not passed as an argument or an environment variable. */
const ARGUMENT_BYTES_MAX = 120 * 1024;
const ARGUMENTS_BYTES_MAX = 512 * 1024;

/** Names the file in which programs report about the call that they belong to. calls.md 9.3. */
const REPORT_VARIABLE = 'MLLD_CALL_REPORT';

/** By W3C's convention the span that a program works in. calls.md 17.1. */
const TRACE_VARIABLE = 'TRACEPARENT';

type CommandRequest = EffectRequest<'command.run'>;
type Started = Pick<ProcessRequest, 'program' | 'args' | 'stdin' | 'channels'> & { readonly added?: Readonly<Record<string, string>> };

export function createCommands(host: {
  readonly environment: Readonly<Record<string, string>>;
  readonly processes: ProcessRunner;
  /** Receives the output of a streaming command while it arrives, for people who watch. */
  readonly live: (text: string) => void;
}): (
  request: CommandRequest,
  beside: Pick<EffectOptions, 'signal' | 'onStarted' | 'onWait' | 'onOutput' | 'newFile' | 'report' | 'traceparent'>,
) => Promise<CommandResult> {
  return async (request, { signal, onStarted, onWait, onOutput, newFile, report, traceparent }) => {
    const { added, ...started } = starters[request.language](request);
    const reportFile = report?.file();
    const environment = {
      ...host.environment,
      ...(traceparent !== undefined && { [TRACE_VARIABLE]: traceparent }),
      ...added,
      ...(reportFile !== undefined && { [REPORT_VARIABLE]: reportFile }),
    };
    return host.processes.run({
      ...started,
      directory: request.directory,
      environment,
      onOutput: request.stream ? alsoLive(host.live, onOutput) : onOutput,
      newFile,
      signal,
      onStarted,
      onWait,
    });
  };
}

/** People see what a streaming command writes to its standard output. */
function alsoLive(live: (text: string) => void, onOutput: EffectOptions['onOutput']): NonNullable<EffectOptions['onOutput']> {
  return (text, stream) => {
    if (stream === 'stdout') live(text);
    onOutput?.(text, stream);
  };
}

const starters: { readonly [L in CommandRequest['language']]: (request: CommandRequest) => Started } = {
  cmd: (request) => shell('sh', request),
  sh: (request) => shell('bash', request),
  bash: (request) => shell('bash', request),
  py: (request) => ({
    program: 'python3',
    args: [...(request.stream ? ['-u'] : []), '-c', PYTHON_PROGRAM],
    stdin: request.stdin,
    channels: [pythonJob(request)],
  }),
};

function shell(
  program: 'sh' | 'bash',
  { code: readable, executed: code = readable, words, isSecret, variables, stdin }: CommandRequest,
): Started {
  if (code.includes('\0') || words?.some((word) => word.includes('\0')))
    throw new WorldError('NUL_CHARACTER', 'a command cannot hold the character NUL');
  const added: Record<string, string> = {};
  const large: { readonly name: string; readonly text: string }[] = [];
  let roomBytes = ARGUMENTS_BYTES_MAX;
  for (const [name, value] of Object.entries(variables)) {
    const text = shellText(value);
    if (text.includes('\0'))
      throw new WorldError('NUL_CHARACTER', `a shell variable cannot hold the character NUL, which is in the value of ${name}`);
    const sizeBytes = Buffer.byteLength(text);
    if (sizeBytes <= Math.min(ARGUMENT_BYTES_MAX, roomBytes)) {
      roomBytes -= sizeBytes;
      added[name] = text;
    } else if (/^[A-Za-z_]\w*$/.test(name)) {
      large.push({ name, text });
    }
  }
  // The x keeps line breaks at the end, which $(...) would remove.
  const texts = large.map(({ text }) => `${text}x`);
  const begin = `exec 3<&-;${prologue(large, 4)}`;
  const common = { program, added, stdin };
  // The shell waits at the gate and becomes the program; it reads none of the words.
  if (words) return { ...common, args: ['-c', `${GATE}unset MLLD_GATE;exec 3<&-;exec "$@"`, program, ...words], channels: ['\n'] };
  if (isSecret || Buffer.byteLength(code) > ARGUMENT_BYTES_MAX) {
    // A code of this size reads itself from the first channel, and so does one with a secret, which the list of processes would show.
    return { ...common, args: ['-c', `${GATE}eval "$(cat <&3)"`], channels: [`\n${begin}${code}`, ...texts] };
  }
  const channels = ['\n', ...texts];
  if (program === 'sh') return { ...common, args: ['-c', `${GATE}unset MLLD_GATE;${begin}${code}`], channels };
  // bash shows the line of a syntax error, so the code keeps lines of its own.
  return { ...common, args: ['-c', `${GATE}${begin}MLLD_GATE=$1;shift;eval "$MLLD_GATE"`, program, code], channels };
}

/** Waits for a line; a shell reads no further. Not on standard input, where bash takes a socket for a remote login. */
const GATE = 'read -r MLLD_GATE <&3||exit 143;';

/** Reads large values, on one line, so that the lines of the code keep their numbers. */
function prologue(large: readonly { readonly name: string }[], firstChannel: number): string {
  // Not exported: no program could be started with such a variable.
  return large
    .map(({ name }, i) => `unset ${name};${name}=$(cat <&${firstChannel + i});${name}=\${${name}%x};exec ${firstChannel + i}<&-;`)
    .join('');
}

/** Writes a value for a shell: text unchanged, a list with one element a line, nothing for null. */
function shellText(value: Json): string {
  if (!Array.isArray(value)) return scalarText(value);
  return value.map((element: Json) => scalarText(element)).join('\n');
}

function scalarText(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
