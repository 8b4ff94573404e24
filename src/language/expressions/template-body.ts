/** `exe @p(a) = template "./p.att"`: the file is read when the function is declared. world.md 13. */
import type { Value } from '../../values/value.js';
import { renderText } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';

/** Renders the template of the function that is running, with its parameters in sight. */
export async function renderTemplateFile(frame: Frame): Promise<Value> {
  const executable = frame.stack?.executable;
  const loaded = executable?.template;
  if (!loaded) throw new Error('a template body runs without its template');
  return renderText(loaded.template.parts, { ...frame, module: { ...loaded.module, scope: frame.module.scope } });
}
