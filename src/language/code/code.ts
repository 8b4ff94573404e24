/** Runs commands, and code in other languages. control.md 5, 7 and 8, world.md 15. */
import type { Code, Expression } from '../../../grammar/ast.js';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import type { Failure } from '../../calls/failure.js';
import type { Reply } from '../../calls/replies/reply.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { resolveDirectory } from '../paths.js';
import { fromNative, shellText, toNative, toJson } from '../../values/native.js';
import { canKeep } from '../../values/keep-metadata.js';
import { parseResult, resultOfCode } from '../../values/results.js';
import { originalText, textOf } from '../../values/text.js';
import { shortened } from '../../values/shortened.js';
import { readableAsText } from '../../values/kinds/native-text.js';
import { isDataObject } from '../../values/plain-object.js';
import { annotate, Annotated, dataOf, flow, metadataOf, type CommandFacts, type Value } from '../../values/value.js';
import { contextFor, contextParts, inputText, shadowOf, sourceOf } from './code-inputs.js';
import { functionScope, shellVariablesFor, variablesFor, type Variable } from './code-variables.js';
import { commandLineOf } from './command-line.js';
import type { CommandLine, WorkingDirectory } from '../../runtime/operation.js';
import { lenient } from '../../runtime/evaluator-ports.js';
import { locationOf, rise } from '../../runtime/errors.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { Frame } from '../../runtime/frame.js';
import { offsetInText } from '../../world/code/place-in-body.js';
import { placeInOutput } from '../../world/process/place-in-output.js';
import { type CodePlace, WorldError } from '../../world/world.js';
import { siteOf } from '../../runtime/position.js';

/**
 * Runs a code block in any position. The text of a block that is the body of a function is read by the rules of bodies (control.md 5.8).
 * `line` replaces the command line that the block itself would make.
 */
export async function evaluateCode(node: Code, frame: Frame, line?: CommandLine): Promise<Value> {
  try {
    return await (node.language === 'js' || node.language === 'node' ? runCode(node, node.language, frame) : runCommand(node, frame, line));
  } catch (error) {
    const place = error instanceof WorldError ? error.place : undefined;
    throw rise(withNameHint(error, node), frame.module, placeInScript(place, node, frame) ?? node.at, node.language);
  }
}

/** Returns the offset in the script of a place in a body, where it is known. */
function placeInScript(place: CodePlace | undefined, node: Code, { module }: Frame): number | undefined {
  return place && offsetInText(place, { code: sourceOf(node), text: module.text, from: node.at });
}

/** Says how code reads names, where JavaScript refuses the at sign of one. */
function withNameHint(error: unknown, node: Code): unknown {
  const { language } = node;
  const [, name] = language === 'js' || language === 'node' ? (/@([A-Za-z_]\w*)/.exec(sourceOf(node)) ?? []) : [];
  if (name === undefined || !(error instanceof Error) || !error.message.startsWith('SyntaxError')) return error;

  const hint = `in code a name has no at sign: write \`${name}\` for a parameter, or list a variable: \`${language} (@${name}) { … }\``;
  return new MlldError('CODE_INVALID', error.message, { hint, cause: error });
}

async function runCode(node: Code, language: 'js' | 'node', frame: Frame): Promise<Value> {
  const listed = variablesFor(node, frame);
  const piped = pipedParameter(node, frame);
  const variables: Record<string, unknown> = {};
  const unset: string[] = [];
  for (let i = 0; i < listed.length; i++) {
    const { name, value } = listed[i] as (typeof listed)[number];
    if (value === undefined) unset.push(name);
    else variables[name] = name === piped || metadataOf(value)?.file ? nativeWithText(value) : toNative(value);
  }
  const context = contextFor(node, frame, listed);
  // A `js` body is a function of this process, so it has the process's working directory. world.md 15.
  const { workingDirectory, projectRoot } = frame.run.settings;
  const finding = folderOf(node, frame);
  const folder = finding instanceof Promise ? await finding : finding;
  // The members are in the order of canonical JSON, because the journal takes the digest of the request.
  const request = {
    code: sourceOf(node),
    directory: folder?.directory ?? (language === 'js' ? workingDirectory : projectRoot),
    echo: !frame.quietCode,
    language,
    ...(context && { mx: toNative(context) as object }),
    ...shadowOf(node, frame),
    unset,
    variables,
  };
  const used = valuesOf(listed);
  if (context) used.push(...contextParts(context));
  if (folder) used.push(...folder.labelled);
  const { value, log } = await performEffect(frame, 'code.run', request, { values: used, written: request.code });
  const isNothing = value === undefined || value === null;
  // A `node` body that returns null has the result null; in `js` null is no result, and the log is taken instead.
  const isNull = language === 'node' && value === null && log === '';
  const result = isNull ? null : isNothing ? parseResult(log, 'code', 'both') : resultOfCode(value);
  noteQuotes(frame, isNothing ? log : value, result);
  return flow(result, used, [], [`src:${language}`]);
}

/** Returns the parameter that has the piped value, in the body of a function that is called as a stage. */
function pipedParameter(node: Code, frame: Frame): string | undefined {
  if (frame.bodyCode !== node || functionScope(frame.scope)?.piped === undefined) return undefined;
  return frame.stack?.executable.params[0];
}

/** Makes an array or object that also reads as its text view; a kept file reads as its own text. control.md 19.2. */
function nativeWithText(value: Value): unknown {
  const native = toNative(value);
  if (metadataOf(value)?.isKept || typeof native !== 'object' || native === null) return native;
  const data = dataOf(value);
  if (!Array.isArray(data) && !isDataObject(data)) return native;
  return readableAsText(native, originalText(value));
}

async function runCommand(node: Code, frame: Frame, replacement?: CommandLine): Promise<Value> {
  const language = node.language as 'cmd' | 'sh' | 'bash' | 'py';
  const listed = language === 'cmd' ? shellVariablesFor(node, frame) : variablesFor(node, frame);
  const line: CommandLine =
    language === 'cmd' ? (replacement ?? (await commandLineOf(node, frame))) : { text: sourceOf(node), used: valuesOf(listed) };
  const code = line.text;
  const used = [...line.used];
  const stdin = node.stdin ? await standardInput(node.stdin, node, frame) : pipedInto(node, frame);
  if (stdin !== undefined) used.push(stdin);
  const finding = folderOf(node, frame);
  const folder = finding instanceof Promise ? await finding : finding;
  if (folder) used.push(...folder.labelled);
  const request = {
    language,
    code,
    ...(line.executed === undefined ? {} : { executed: line.executed }),
    ...(line.used.some(isSecret) && language === 'cmd' ? { isSecret: true as const } : {}),
    directory: folder?.directory ?? frame.run.settings.projectRoot,
    variables: commandVariables(language, listed),
    ...(stdin === undefined ? {} : { stdin: inputText(node, stdin) }),
    ...shadowOf(node, frame),
    ...(frame.streaming ? { stream: true } : {}),
  };
  // The script holds no text of a command that a guard put in the place of another.
  const written = line.isReplaced ? {} : { written: writtenIn(node) };
  const { stdout, stderr, exitCode, durationMs } = await performEffect(frame, 'command.run', request, { values: used, ...written });
  if (stderr !== '' && exitCode === 0) await frame.run.world.perform('stream.write', { stream: 'stderr', text: stderr });
  const isBody = isBodyOfCall(node, frame);
  readReply(frame, isBody, language === 'cmd' ? code : undefined, { stdout, stderr, exitCode });
  if (exitCode !== 0) {
    if (!isBody && stageOfBody(node, frame) !== undefined && isInBodyOfCall(frame)) {
      throw new AttemptFailed(failedStage({ stdout, stderr, exitCode }, language === 'cmd' ? code : undefined, frame));
    }
    const place = placeInOutput(language, stderr, code);
    const at = placeInScript(place, node, frame) ?? node.at;
    const hasSecret = used.some(isSecret);
    const whole = hasSecret ? (written.written ?? language) : code;
    const command = firstLine(at === node.at ? whole : (code.split('\n')[(place?.line ?? 1) - 1] ?? whole));
    if (!isBody) reportFailure(frame, { command, exitCode, stderr, at, listed, hasSecret });
    else if (at !== node.at && frame.attempt) frame.attempt.place = locationOf(frame.module, at);
  }
  const output = exitCode !== 0 && stdout.trimEnd() === '' ? stderr : stdout;
  const medium = language !== 'cmd' ? 'code' : frame.bodyCode === node ? 'cmd' : 'inline-cmd';
  const facts = { source: language, command: code, exitCode, durationMs, stderr };
  const result = parseResult(output, medium);
  noteQuotes(frame, output, result);
  return flow(withFacts(result, facts), used, [], [`src:${language}`]);
}

/** True for the command that is the body of the innermost call around, also where functions of one call lead to it. */
function isBodyOfCall(node: Code, frame: Frame): boolean {
  const { attempt, bodyCode, stack } = frame;
  if (!attempt || (bodyCode !== node && stack !== attempt.around && stageOfBody(node, frame) !== 'only')) return false;
  return isInBodyOfCall(frame);
}

/** True in the body of the innermost call around, also where functions of one call lead to it. */
function isInBodyOfCall({ attempt, stack }: Frame): boolean {
  if (!attempt) return false;
  let at = stack;
  if (at === attempt.around) return true; // `var llm @x = cmd { … }`
  while (at && at.parent !== attempt.around) {
    at = at.parent;
    if (!at?.executable.forwarded) return false;
  }
  return at !== undefined;
}

/** Returns whether the code is a stage of the pipeline that is the body of the function: `@t | sh { … }`. calls.md 7.4. */
function stageOfBody({ at }: Code, { stack }: Frame): 'only' | 'one of several' | undefined {
  const body = stack?.executable.body;
  if (body?.kind !== 'pipeline') return undefined;
  const { source, stages } = body;
  const codes = [source, ...stages].flatMap((step) => (step.kind === 'code' ? [step] : step.kind === 'command-stage' ? [step.code] : []));
  if (!codes.some((code) => code.at === at)) return undefined;
  return codes.length === 1 && stages.at(-1)?.kind === 'command-stage' ? 'only' : 'one of several';
}

/** Hands the reply of a command to the attempt around. Throws when it fails the call there and then. calls.md 7.3 and 7.4. */
function readReply({ attempt }: Frame, isBody: boolean, commandLine: string | undefined, reply: Reply): void {
  if (isBody) attempt?.readOwn(reply, commandLine);
  else if (commandLine !== undefined) {
    const failure = attempt?.readInner(reply, commandLine);
    if (failure) throw new AttemptFailed(failure);
  }
}

/** A stage of a body that fails is no input of the next one. */
function failedStage(reply: Reply, commandLine: string | undefined, { attempt }: Frame): Failure {
  const message = `a stage ended with status ${reply.exitCode}`;
  return attempt?.failureIn(reply, commandLine) ?? { class: 'crash', evidence: 'none', message };
}

/** Keeps a JSON text with its quotes for the schema of the call around, which reads JSON from what was printed. calls.md 8.2. */
function noteQuotes({ attempt }: Frame, written: unknown, value: Value): void {
  const text = dataOf(value);
  const { schema, reply } = attempt?.options ?? {};
  if (!attempt || (!schema && reply === undefined) || typeof written !== 'string' || typeof text !== 'string') return;
  if (written.trim() !== text) attempt.quoted = { written, text };
}

/** Makes an argument that was not passed None in Python, and leaves its variable unset in a shell. */
function commandVariables(language: string, listed: readonly Variable[]): { readonly [name: string]: Json } {
  const entries = listed.flatMap(({ name, value }): [string, Json][] => {
    if (language === 'py') return [[name, toJson(canKeep(value) ? fromNative(toNative(value)) : value)]];
    return value === undefined ? [] : [[name, language === 'cmd' ? textOf(value) : shellText(value)]];
  });
  return Object.fromEntries(entries);
}

/** Returns what guards have seen, or evaluates it: a call in it runs once. */
async function standardInput(written: Expression, { text }: Code, frame: Frame): Promise<Value> {
  const judged = frame.judged?.text === text ? frame.judged.stdin : undefined;
  return judged ? judged.value : lenient(written, frame);
}

function folderOf({ directory, text }: Code, frame: Frame): Awaitable<WorkingDirectory | undefined> {
  const judged = frame.judged?.text === text ? frame.judged.folder : undefined;
  return judged ?? (directory && resolveDirectory(directory, frame));
}

/** Returns the piped value for a `cmd` function that is a stage: it is on its standard input too. control.md 19.2. */
function pipedInto(node: Code, frame: Frame): Value {
  if (node.language !== 'cmd' || frame.bodyCode !== node) return undefined;
  return functionScope(frame.scope)?.piped;
}

function withFacts(value: Value, command: CommandFacts): Value {
  const metadata = value instanceof Annotated ? value.metadata : {};
  return annotate(dataOf(value), { ...metadata, command });
}

interface Failed {
  readonly command: string;
  readonly exitCode: number;
  readonly stderr: string;
  /** Offset into the script. */
  readonly at: number;
  readonly listed: readonly Variable[];
  /** A secret went into the command, so that what it wrote counts as secret too. */
  readonly hasSecret: boolean;
}

/** Lists a failed command for the end of the run, or throws COMMAND_FAILED with `--error-behavior halt`. control.md 24.2. */
function reportFailure({ run, module }: Frame, { command, exitCode, stderr, at, listed, hasSecret }: Failed): void {
  const output = stderr.trim();
  if (run.settings.errorBehavior === 'halt') {
    throw new MlldError('COMMAND_FAILED', `Command ended with status ${exitCode}: ${command}${output ? `\n${output}` : ''}`, {
      location: locationOf(module, at),
    });
  }
  const [first] = listed;
  const item =
    first?.value === undefined || hasSecret ? '' : `${first.name} = ${JSON.stringify(shortened(textOf(first.value), ITEM_UNITS))}`;
  const said = output.split('\n').filter((line) => !ECHOED.test(line));
  const reason = hasSecret ? '' : shortened((said.at(-1) ?? '').replace(SHELL_PLACE, ''), REASON_UNITS);
  run.failedCommands.push({ command, exitCode, where: siteOf(module, at), item, reason });
}

/** Names code of several lines by its first one and their number: the first line alone would be blamed for what another one did. */
function firstLine(code: string): string {
  const [first = '', ...others] = code.trim().split('\n');
  return others.length === 0 ? first : `${first.trimEnd()} … (${others.length + 1} lines)`;
}

/** The place of the warning says it already. */
const SHELL_PLACE = /^(?:bash|environment): (?:eval: )?line \d+: /;
/** Below an error of syntax, bash repeats the line. */
const ECHOED = /^bash: .*line \d+: `.*'$/;
const ITEM_UNITS = 60;
const REASON_UNITS = 200;

function valuesOf(listed: readonly Variable[]): Value[] {
  return listed.map(({ value }) => value);
}

/** Returns the text of the source with its references unresolved, because values may be secret. */
function writtenIn({ text }: Code): string {
  return text.map((part) => (part.kind === 'text' ? part.text : part.kind === 'hole' ? part.written : '')).join('');
}
