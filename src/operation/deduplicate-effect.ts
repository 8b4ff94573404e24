/**
 * A result is recorded once. Where the body of a call is one command or one piece of code, and nothing can change its result before it is
 * the result of the call, the result of that effect is not recorded: a replay makes it from the result of the call.
 */
import { parseResult } from '../values/results.js';
import { dataOf, metadataOf, Annotated } from '../values/value.js';
import type { EffectResult, EffectRequest, EffectKind } from '../world/world.js';
import type { EffectFrame } from './effect-frame.js';

export function isRecordedByCall<Q extends EffectKind>(
  frame: EffectFrame,
  kind: Q,
  request: EffectRequest<Q>,
  result: EffectResult<Q>,
): boolean {
  if (kind !== 'code.run' && kind !== 'command.run') return false;
  if (frame.context.checkpoint?.key == null || !isBodyOfCall(frame)) return false;
  if (kind === 'code.run') return isResultOfCode(result as EffectResult<'code.run'>);
  return isResultOfCommand((request as EffectRequest<'command.run'>).language, result as EffectResult<'command.run'>);
}

/** True in the body of the call itself, or of the one function that it forwards to, when no guard and no hook can change the result. */
function isBodyOfCall({ run: { interceptors }, stack, bodyCode, context: { op } }: EffectFrame): boolean {
  if (!stack || bodyCode === undefined || stack.executable.code !== bodyCode) return false;
  const { body } = stack.executable;
  if (body.kind !== 'code' && body.kind !== 'stream') return false;
  if (op?.llm) return !interceptors.active || interceptors.guards.watch(op) === undefined;
  const around = stack.parent?.executable;
  const isForwarded = around?.labels.includes('llm') === true && around.forwarded?.name === stack.executable.name;
  return isForwarded && !interceptors.active;
}

function isResultOfCode({ value, log }: EffectResult<'code.run'>): boolean {
  if (log !== '') return false;
  if (typeof value === 'string') return isTextOfResult(value.trim(), () => parseResult(value, 'code', 'both'));
  return typeof value === 'object' && value !== null;
}

function isResultOfCommand(
  language: EffectRequest<'command.run'>['language'],
  { stdout, stderr, exitCode }: EffectResult<'command.run'>,
): boolean {
  if (exitCode !== 0 || stderr !== '') return false;
  return isTextOfResult(stdout.trimEnd(), () => parseResult(stdout, language === 'cmd' ? 'cmd' : 'code'));
}

/** True when the recorded result of the call will be this very text, and parsing it returns the same value. */
function isTextOfResult(text: string, parse: () => ReturnType<typeof parseResult>): boolean {
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
