/**
 * A result is kept once. Where the body of a call is one command or one piece of code and nothing can come between its answer and the
 * result of the call, the answer is not recorded beside that: it can be made of it again.
 */
import type { Frame } from '../runtime/frame.js';
import { parseResult } from '../values/results.js';
import { dataOf, metadataOf, Annotated } from '../values/value.js';
import type { EffectResult, EffectRequest, EffectKind } from '../world/world.js';

export function isRecordedByCall<Q extends EffectKind>(
  frame: Frame,
  question: Q,
  request: EffectRequest<Q>,
  answer: EffectResult<Q>,
): boolean {
  if ((question !== 'code.run' && question !== 'command.run') || frame.context.checkpoint?.key == null || !isBodyOfCall(frame))
    return false;
  if (question === 'code.run') return isResultOfCode(answer as EffectResult<'code.run'>);
  return isResultOfCommand((request as EffectRequest<'command.run'>).language, answer as EffectResult<'command.run'>);
}

/** Of the call itself, or of the one function that it forwards to; no guard and no hook changes anything on the way. */
function isBodyOfCall({ run: { interceptors: instruments }, stack, bodyCode, context: { op } }: Frame): boolean {
  if (!stack || bodyCode === undefined || stack.executable.code !== bodyCode) return false;
  const { kind } = stack.executable.body;
  if (kind !== 'code' && kind !== 'stream') return false;
  if (op?.llm) return !instruments.active || instruments.guards.watch(op) === undefined;
  const around = stack.parent?.executable;
  const isForwarded = around?.labels.includes('llm') === true && around.forwarded?.name === stack.executable.name;
  return isForwarded && !instruments.active;
}

function isResultOfCode({ value, log }: EffectResult<'code.run'>): boolean {
  if (log !== '') return false;
  if (typeof value === 'string') return isTextAgain(value.trim(), () => parseResult(value, 'code', 'both'));
  return typeof value === 'object' && value !== null;
}

function isResultOfCommand(
  language: EffectRequest<'command.run'>['language'],
  { stdout, stderr, exitCode }: EffectResult<'command.run'>,
): boolean {
  if (exitCode !== 0 || stderr !== '') return false;
  return isTextAgain(stdout.trimEnd(), () => parseResult(stdout, language === 'cmd' ? 'cmd' : 'code'));
}

/** The recorded result will be this very text, and parsing that gives the same value. */
function isTextAgain(text: string, parse: () => ReturnType<typeof parseResult>): boolean {
  const value = parse();
  if (value instanceof Annotated) return typeof dataOf(value) !== 'string' && metadataOf(value)?.text === text && isJson(text);
  return value === text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
