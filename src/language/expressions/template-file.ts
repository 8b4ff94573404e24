/** Reads a prompt that lies in a file of its own. world.md 13. */
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
import type { Frame } from '../../runtime/frame.js';
import type { LoadedTemplate } from '../../runtime/executable.js';

/** `template "./p.att"`. The module that stands for the file sees the names of the file that declares the function. */
export async function loadTemplateFile(file: TemplateFile['path'], frame: Frame): Promise<LoadedTemplate> {
  const parts: Template['parts'] = file.kind === 'literal' ? [{ kind: 'text', text: String(file.value) }] : file.parts;
  const { written, absolute } = await resolvePath(parts, frame, file.at);
  const loaded = await readTemplate({ absolute, written, at: file.at }, frame);
  return { ...loaded, module: { ...loaded.module, scope: frame.module.scope, shadows: frame.module.shadows } };
}

export interface TemplatePlace {
  readonly absolute: string;
  readonly written: string;
  /** Where the script names it. */
  readonly at: number;
}

/** The module that stands for the file has no names of its own. */
export async function readTemplate({ absolute, written, at }: TemplatePlace, frame: Frame): Promise<LoadedTemplate> {
  const kind = templateKind(absolute);
  if (!kind) {
    throw new MlldError('TEMPLATE_EXTENSION', `${written} is no template file: its name must end in .att or .mtt`, {
      location: locationOf(frame.module, at),
      hint: '.att files take @name, .mtt files take {{name}}',
    });
  }
  const answer = await performEffect(frame, 'file.read', { path: absolute });
  if (!('text' in answer)) throw await fileMissing({ absolute, written, root: frame.module.directory }, answer, frame, at, 'Template file');
  const module = createModule({
    path: absolute,
    display: displayPath(absolute, frame.run.settings),
    directory: dirname(absolute),
    text: answer.text.replace(/^\uFEFF/, ''), // a mark of byte order is no part of a prompt
  });
  await recordSource(frame, absolute, module.text, 'template');
  try {
    return { template: parseTemplateFile(module.text, kind), written, module };
  } catch (error) {
    throw syntaxError(error, module);
  }
}

export function templateKind(name: string): 'att' | 'mtt' | undefined {
  const lower = name.toLowerCase();
  return lower.endsWith('.att') ? 'att' : lower.endsWith('.mtt') ? 'mtt' : undefined;
}
