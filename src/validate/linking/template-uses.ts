/** Finds the functions of a project that are declared for a template file, to validate the template by itself. */
import path from 'node:path';
import { templateUse } from './link-templates.js';
import { findSources } from './find-sources.js';
import { partsOf, resolveStatic } from '../static-path.js';
import type { TemplateUse } from './template-names.js';
import { topLevel } from '../top-level.js';
import type { Workspace } from './workspace.js';

/** Returns a lookup by the absolute path of a template. Its first use reads all scripts of the project. */
export function templateUsesIn(workspace: Workspace): (template: string) => Promise<readonly TemplateUse[]> {
  let collected: Promise<ReadonlyMap<string, readonly TemplateUse[]>> | undefined;
  return async (template) => (await (collected ??= collect(workspace))).get(template) ?? [];
}

async function collect(workspace: Workspace): Promise<ReadonlyMap<string, readonly TemplateUse[]>> {
  const uses = new Map<string, TemplateUse[]>();
  const add = (template: string | undefined, use: TemplateUse): void => {
    if (template !== undefined) uses.set(template, [...(uses.get(template) ?? []), use]);
  };
  const sources = await findSources(workspace.projectRoot, workspace.files);
  const templates = sources.filter((source) => /\.(att|mtt)$/i.test(source));
  for (const script of sources.filter((source) => !templates.includes(source))) {
    const text = await workspace.files.readText(script);
    if (text?.includes('template') !== true) continue; // most scripts declare none, and parsing is the slow part
    const opened = await workspace.script(script);
    if (opened.kind !== 'parsed') continue;
    const { file } = opened;
    for (const statement of topLevel(file.script)) {
      if (statement.kind === 'exe' && statement.body.kind === 'template-file') {
        add(resolveStatic(partsOf(statement.body.path), path.dirname(script), workspace), templateUse(statement, file));
      }
      if (statement.kind !== 'import' || statement.type !== 'templates' || statement.source.kind !== 'path') continue;
      const folder = resolveStatic(statement.source.path, path.dirname(script), workspace);
      if (folder === undefined || !statement.params) continue;
      const use = { params: statement.params.map(({ name }) => name), around: new Set<string>() };
      for (const template of templates) if (template.startsWith(`${folder}${path.sep}`)) add(template, use);
    }
  }
  return uses;
}
