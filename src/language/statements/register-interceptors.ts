/** Registers hooks and guards, which see the operations that start afterwards. instrumentation.md 4.1 and 5.2. */
import type { Guard, Hook } from '../../../grammar/ast.js';
import type { Completion } from '../../runtime/completion.js';
import type { Frame } from '../../runtime/frame.js';

export async function executeHook(node: Hook, frame: Frame): Promise<Completion> {
  frame.run.interceptors.registerHook(node, frame);
  return undefined;
}

export async function executeGuard(node: Guard, frame: Frame): Promise<Completion> {
  frame.run.interceptors.registerGuard(node, frame);
  return undefined;
}
