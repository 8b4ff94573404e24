/** `exe @p(a) = template "./p.att"`: the file is read when the function is declared. world.md 13. */
import type { Template } from '../../../grammar/ast.js';
import type { Value } from '../../values/value.js';
import { renderText } from '../../runtime/evaluator-ports.js';
import type { Executable } from '../../runtime/executable.js';
import type { Frame, Module } from '../../runtime/frame.js';

export interface LoadedTemplate {
  readonly template: Template;
  /** The path as the script has it: unlike the file's display it does not depend on where the program was started. */
  readonly written: string;
  /** Stands for the file: its own references resolve from its folder. */
  readonly module: Module;
}

export function keepTemplate(executable: Executable, loaded: LoadedTemplate): void {
  executable.derived.set('template', loaded);
}

export function templateOf(executable: Executable): LoadedTemplate | undefined {
  return executable.derived.get('template') as LoadedTemplate | undefined;
}

/** Renders the template of the function that is running, with its parameters in sight. */
export async function renderTemplateFile(frame: Frame): Promise<Value> {
  const executable = frame.stack?.executable;
  const loaded = executable && templateOf(executable);
  if (!loaded) throw new Error('a template body runs without its template');
  return renderText(loaded.template.parts, { ...frame, module: { ...loaded.module, scope: frame.module.scope } });
}
