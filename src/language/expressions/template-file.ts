/** Loads template files when their functions are declared, and renders them when these are called. world.md 13. */
import { dirname } from 'node:path';
import { parseTemplateFile } from '../../../grammar/parse.js';
import type { Template, TemplateFile } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { displayPath, resolvePath } from '../paths.js';
import { performEffect } from '../../operation/perform-effect.js';
import { recordSource } from '../../operation/sources.js';
import { createModule, syntaxError } from '../source-module.js';
import { locationOf } from '../../runtime/errors.js';
import { fileMissing } from '../files/unreadable-file.js';
import { renderText } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import type { Value } from '../../values/value.js';
import type { LoadedTemplate } from '../../runtime/definitions/executable.js';

/** Loads `template "./p.att"`. The template sees the names of the file that declares the function. */
export async function loadTemplateFile(file: TemplateFile['path'], frame: Frame): Promise<LoadedTemplate> {
  const parts: Template['parts'] = file.kind === 'literal' ? [{ kind: 'text', text: String(file.value) }] : file.parts;
  const { written, absolute, unknown } = await resolvePath(parts, frame, file.at);
  const loaded = await readTemplate({ absolute, written, unknown, at: file.at }, frame);
  return { ...loaded, module: { ...loaded.module, scope: frame.module.scope, shadows: frame.module.shadows } };
}

export interface TemplatePlace {
  readonly absolute: string;
  readonly written: string;
  /** Says which name in the path is not defined. */
  readonly unknown?: string | undefined;
  /** Is the position in the script that names the file. */
  readonly at: number;
}

/** Loads a template that sees only its parameters. Throws TEMPLATE_EXTENSION, FILE_NOT_FOUND, FILE_UNREADABLE and syntax errors. */
export async function readTemplate({ absolute, written, unknown, at }: TemplatePlace, frame: Frame): Promise<LoadedTemplate> {
  const kind = templateKind(absolute);
  if (!kind) {
    throw new MlldError('TEMPLATE_EXTENSION', `${written} is not a template file: its name must end in .att or .mtt`, {
      location: locationOf(frame.module, at),
      hint: '.att files take @name, .mtt files take {{name}}',
    });
  }
  const read = await performEffect(frame, 'file.read', { path: absolute });
  if (!('text' in read)) {
    throw await fileMissing({ absolute, written, unknown, root: frame.module.directory }, read, frame, at, 'Template file');
  }
  const module = createModule({
    path: absolute,
    display: displayPath(absolute, frame.run.settings),
    directory: dirname(absolute),
    text: read.text.replace(/^\uFEFF/, ''), // a byte order mark is no part of a prompt
  });
  await recordSource(frame, absolute, module.text, 'template');
  try {
    return { template: parseTemplateFile(module.text, kind), written, module };
  } catch (error) {
    throw syntaxError(error, module);
  }
}

/** Renders the template of the function that is running, with its parameters in scope. */
export async function renderTemplateFile(frame: Frame): Promise<Value> {
  const loaded = frame.stack?.executable.template;
  if (!loaded) throw new Error('a template body runs without its template');
  return renderText(loaded.template.parts, { ...frame, module: { ...loaded.module, scope: frame.module.scope } });
}

export function templateKind(name: string): 'att' | 'mtt' | undefined {
  const lower = name.toLowerCase();
  return lower.endsWith('.att') ? 'att' : lower.endsWith('.mtt') ? 'mtt' : undefined;
}
