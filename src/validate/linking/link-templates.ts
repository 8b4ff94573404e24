/** Checks the template files of `exe … = template` and `import templates`. world.md 13. */
import path from 'node:path';
import type { Exe, Import } from '../../../grammar/ast.js';
import { report, type LinkState } from './link-state.js';
import type { ParsedScript } from '../rule.js';
import { freeNames, type TemplateUse } from './template-names.js';
import type { ParsedTemplate } from './workspace.js';

const TEMPLATE = /\.(att|mtt)$/i;
const DEPTH_MAX = 20;

interface Place {
  readonly absolute: string;
  readonly written: string;
  readonly at: number;
}

export async function linkTemplate(exe: Exe, place: Place, file: ParsedScript, linking: LinkState): Promise<void> {
  if (!TEMPLATE.test(place.absolute)) return; // a rule reports it
  const template = await openTemplate(place, file, linking);
  if (!template) return;
  const known = linking.templates.get(place.absolute) ?? { file: template, uses: [] };
  linking.templates.set(place.absolute, known);
  known.uses.push(templateUse(exe, file));
}

export function templateUse({ params }: Exe, { symbols }: ParsedScript): TemplateUse {
  return { params: params.map(({ name }) => name), around: new Set(symbols.module.keys()) };
}

/** Checks a collection: all templates below a folder share one signature, and see no other names. */
export async function linkCollection(node: Import, absolute: string, file: ParsedScript, linking: LinkState): Promise<void> {
  const { files } = linking.workspace;
  const { source, written, params } = node;
  if ((await files.kindOf(absolute)) !== 'directory')
    return report(linking, file, { at: source.at, message: `import templates needs a directory, and ${written} is not one` });
  const templates = await templatesBelow(absolute, linking, 0);
  if (templates.length === 0) {
    return report(linking, file, {
      at: source.at,
      message: `There are no templates in ${written}`,
      hint: 'templates are files whose names end in .att or .mtt',
    });
  }
  const known = new Set(params?.map(({ name }) => name));
  for (const each of templates) {
    const template = await openTemplate({ absolute: each, written: linking.workspace.display(each), at: source.at }, file, linking);
    if (!template || !params) continue;
    for (const { name, at, place } of freeNames(template)) {
      if (known.has(name) || place !== 'text') continue;
      const message = `the template uses @${name}, which is not a parameter of the collection`;
      const hint = `its parameters are ${[...known].map((param) => `@${param}`).join(', ') || 'none'}; write @@ for an at sign`;
      linking.found.push({ list: 'errors', code: 'template-parameter', file: template, violation: { at, message, hint } });
    }
  }
}

async function openTemplate({ absolute, written, at }: Place, file: ParsedScript, linking: LinkState): Promise<ParsedTemplate | undefined> {
  const opened = await linking.workspace.template(absolute);
  if (opened.kind === 'parsed') return opened.file;
  if (opened.kind === 'missing') {
    const hint = `mlld looked for ${linking.workspace.display(absolute)}`;
    report(linking, file, { at, message: `Template file ${written} does not exist`, hint });
    return undefined;
  }
  const { file: broken } = opened;
  for (const { at: place, message, hint } of broken.failures) {
    const violation = { at: place, message, ...(hint !== undefined && { hint }) };
    linking.found.push({ list: 'errors', code: 'syntax', file: broken, violation });
  }
  return undefined;
}

async function templatesBelow(directory: string, linking: LinkState, depth: number): Promise<readonly string[]> {
  if (depth > DEPTH_MAX) return [];
  const { files, folders } = await linking.workspace.files.list(directory);
  const below: string[] = files.filter((name) => TEMPLATE.test(name)).map((name) => path.join(directory, name));
  for (const folder of folders) {
    if (!folder.startsWith('.') && folder !== 'node_modules')
      below.push(...(await templatesBelow(path.join(directory, folder), linking, depth + 1)));
  }
  return below;
}
