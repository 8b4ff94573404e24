/** Declares functions, and registers hooks and guards. control.md 3 and 7, instrumentation.md 4.1 and 5.2. */
import type { Exe, Guard, Hook, Shadow } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { dataOf } from '../../values/value.js';
import { refuseReserved } from '../expressions/ambient-variables.js';
import type { Completion } from '../../runtime/completion.js';
import { locationOf } from '../../runtime/errors.js';
import { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import { loadFixedSchema } from '../calls/call-schema.js';
import { loadTemplateFile } from '../expressions/template-file.js';
import { redeclared } from './variables.js';

export async function executeExe(node: Exe, frame: Frame): Promise<Completion> {
  const { scope, module } = frame;
  refuseReserved(node.name, module, node.nameAt);
  const existing = scope.own(node.name);
  if (existing && existing.kind !== 'ambient') throw redeclared(node.name, node.nameAt, existing, frame);
  if (node.body.kind === 'new' && node.params.length === 0) {
    // `exe @u = new @URL("…")` makes its object now, so that its fields can be read by `@u.host`.
    scope.define({ name: node.name, value: await frame.evaluate(node.body, frame), kind: 'exe', at: node.nameAt });
    return undefined;
  }
  const executable = new Executable(withBodyOptions(node), module);
  if (node.body.kind === 'template-file') executable.template = await loadTemplateFile(node.body.path, frame);
  executable.schema = await loadFixedSchema(executable, frame);
  scope.define({ name: node.name, value: executable, kind: 'exe', at: node.nameAt });
  return undefined;
}

const BODY_OPTIONS = new Set(['stdin', 'stream', 'streamFormat', 'parallel', 'delay', 'format']);

/** Wraps the body in the options that are about its execution; the other options are about the function. */
function withBodyOptions(node: Exe): Exe {
  const options = node.options.filter(({ name }) => BODY_OPTIONS.has(name));
  return options.length === 0 ? node : { ...node, body: { kind: 'with', value: node.body, options, at: node.at } };
}

/** Makes functions callable from code of a language: `exe js = { @f, @g }`. */
export async function executeShadow(node: Shadow, frame: Frame): Promise<Completion> {
  const functions = node.names.map(({ name, at }) => {
    const found = dataOf(frame.scope.find(name)?.value);
    if (found instanceof Executable) return found;
    throw new MlldError('UNKNOWN_FUNCTION', `exe ${node.language} = { … }: @${name} is not a declared function`, {
      location: locationOf(frame.module, at),
      hint: 'declare it above this line',
    });
  });
  frame.module.shadows.set(node.language, functions);
  frame.module.scope.version++; // the functions are parts of definitions that are derived already
  return undefined;
}

/** Registers a hook, which sees the operations that start from now on. */
export async function executeHook(node: Hook, frame: Frame): Promise<Completion> {
  frame.run.interceptors.registerHook(node, frame);
  return undefined;
}

/** Registers a guard, which sees the operations that start from now on. */
export async function executeGuard(node: Guard, frame: Frame): Promise<Completion> {
  frame.run.interceptors.registerGuard(node, frame);
  return undefined;
}
