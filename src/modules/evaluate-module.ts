/** Runs a module for the file that imports it. world.md 11.5 and 12. */
import type { Script } from '../../grammar/ast.js';
import { bindFrontmatter, parseModule } from '../language/source-module.js';
import { Return } from '../runtime/completion.js';
import type { Frame } from '../runtime/frame.js';
import type { Module, ModuleExports } from '../runtime/module.js';
import { exportedInterceptors, exportedValues } from './exports.js';

/** Runs the module inside the import that `frame` is in. The whole text is parsed before any of it runs. */
export async function evaluateModule(module: Module, mode: Script['mode'], frame: Frame): Promise<ModuleExports> {
  const script = parseModule(module, mode);
  const frontmatter = await bindFrontmatter(script, module);
  // As in a `for`: a `when` with a value at the top level shows that value in a script, and shows nothing here.
  const inner: Frame = { ...frame, stack: undefined, subject: undefined, module, scope: module.scope, within: 'for' };
  const completion = await frame.execute(script.statements, inner);
  const values = exportedValues(script, module);
  if (completion instanceof Return && completion.hasValue) values.set('default', completion.value);
  return { module, values, interceptors: exportedInterceptors(script, module), listed: module.exports.size > 0, frontmatter };
}
