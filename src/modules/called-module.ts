/** Calls a function of a module by name, for what is no script itself: a pipeline, a workflow script. */
import path from 'node:path';
import { sha256 } from '../../journal/canonical.js';
import { MlldError } from '../errors.js';
import { createModule } from '../language/source-module.js';
import { displayPath } from '../language/paths.js';
import { withBackend, withParts } from '../operation/fingerprint.js';
import { performEffect } from '../operation/perform-effect.js';
import { recordSource } from '../operation/sources.js';
import type { Definition } from '../runtime/definitions/definition.js';
import { Executable } from '../runtime/definitions/executable.js';
import type { ResultCache } from '../runtime/calls/result-cache.js';
import { failureMessage, markCallFailure, namedFailure } from '../runtime/calls/call-failure.js';
import { callValue } from '../runtime/evaluator-ports.js';
import type { Frame } from '../runtime/frame.js';
import type { ModuleExports } from '../runtime/module.js';
import { dataOf, type FailedCall, type Value } from '../values/value.js';
import { evaluateModule } from './evaluate-module.js';

/** Makes the error for a file that can't be read, or that has no such function. */
type Refuse = (message: string) => Error;

/** Evaluates a module once in a run: its hooks and guards hold from then on. */
export function loadModuleFile(file: string, frame: Frame, refuse: Refuse): Promise<ModuleExports> {
  const { modules } = frame.run;
  const loading = modules.get(file) ?? evaluateFile(file, frame, refuse);
  modules.set(file, loading);
  return loading;
}

/** Parts `FILE#NAME`, where the name may have its at sign. Undefined for a text that lacks one of them. */
export function namedFunction(written: string): NamedFunction | undefined {
  const [, file, name] = /^(.+)#@?([^#]+)$/s.exec(written) ?? [];
  return file === undefined || name === undefined ? undefined : { file, name };
}

interface NamedFunction {
  readonly file: string;
  readonly name: string;
}

interface FunctionCall extends NamedFunction {
  readonly args: readonly Value[];
  /** Finds a result that was recorded at this place before the process died, which had not ended the call around. */
  readonly received: ResultCache['lookup'];
}

/**
 * The caller has looked its own call up already: calls of the function are recorded, and not looked up again, because another execution
 * makes them anew. An execution that a crash cut short continues with the results that it had. A value with the failure of a call in it is
 * no result for the caller, who would pay for what is made of it: throws that failure. calls.md 2.4 and 5.3.
 */
export async function callFunctionOf({ file, name, args, received }: FunctionCall, frame: Frame, refuse: Refuse): Promise<Value> {
  const executable = await functionOf({ file, name }, frame, refuse);
  const known = frame.run.cache;
  const cache = { ...known, policy: () => ({ records: true, reuses: false }), lookup: received };
  const inner = known.policy().records ? { ...frame, run: { ...frame.run, cache } } : frame;
  const result = await callValue(executable, args, inner, { at: 0, called: [name] });
  const [failed] = frame.run.failures.in([result]);
  if (failed) throw failureInResult(name, failed);
  return result;
}

function failureInResult(name: string, failed: FailedCall): MlldError {
  const { fn, op, class: failureClass, attempts, item } = failed;
  const message = `@${name} returned the failure of a call inside it: ${namedFailure(failed)}`;
  const error = new MlldError('CALL_FAILED', message, { hint: 'leave failed elements out: for @x in @list when !@x.mx.failed => @x' });
  return markCallFailure(error, { fn, op, class: failureClass, attempts, item, message: failureMessage({ class: failureClass, message }) });
}

/**
 * Adds a named function to the definition of the call that it answers. One that can't be found is another than it was: a recorded result
 * is reused all the same, and a call that must be executed fails. A replay compares no definitions, but evaluates the module where the run
 * did, because its hooks and guards hold from then on. Records of older programs have no reading of it at a call that was reused.
 */
export async function withFunctionOf(own: Definition, named: NamedFunction, frame: Frame): Promise<Definition> {
  const { cache, replayed, secrets, signal } = frame.run;
  if (replayed && !replayed.hasAhead(frame.op.path, 'file.read')) return own;
  try {
    const executable = await functionOf(named, frame, (message) => new Error(message));
    if (replayed) return own;
    return await withBackend(own, executable, { digest: cache.digest, secrets });
  } catch (error) {
    if (signal.aborted) throw error;
    if (replayed) return own;
    return withParts(own, [{ kind: 'function', name: named.name, digest: sha256('not found'), inBackend: true }]);
  }
}

async function functionOf({ file, name }: NamedFunction, frame: Frame, refuse: Refuse): Promise<Executable> {
  const { values } = await loadModuleFile(file, frame, refuse);
  const executable = dataOf(values.get(name));
  if (!(executable instanceof Executable)) throw refuse(`${file} has no function @${name}`);
  return executable;
}

async function evaluateFile(file: string, frame: Frame, refuse: Refuse): Promise<ModuleExports> {
  const found = await performEffect(frame, 'file.read', { path: file });
  if (!('text' in found)) throw refuse(`the file ${file} can't be read: ${found.detail}`);
  const display = displayPath(file, { workingDirectory: frame.run.settings.workingDirectory });
  const module = createModule({ path: file, display, directory: path.dirname(file), text: found.text, importedBy: frame.module });
  await recordSource(frame, file, module.text, 'module');
  return evaluateModule(module, file.endsWith('.md') ? 'markdown' : 'strict', frame);
}
