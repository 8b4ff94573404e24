/** Finds the definitions of custom agents. Reads files itself, as `workflow-files.ts` does, and for the same reason. */
import fs from 'node:fs';
import path from 'node:path';
import type { Project } from '../project.js';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

export interface WorkflowPlace {
  readonly project: Project;
  readonly home: string | undefined;
  readonly workingDirectory: string;
}

/** The definition of a custom agent: of the project, else of the user. */
export function agentDefinition(agentType: string, { project, home }: Pick<WorkflowPlace, 'project' | 'home'>): string | undefined {
  if (!/^[\w.-]+$/.test(agentType)) return undefined; // no path
  const folders = [project.root, ...(home ? [home] : [])];
  for (const folder of folders) {
    const text = readText(path.join(folder, '.claude', 'agents', `${agentType}.md`));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Undefined for a file that is missing, large, a folder, or may not be read. */
export function readText(file: string): string | undefined {
  try {
    return fs.statSync(file).size > FILE_BYTES_MAX ? undefined : fs.readFileSync(file, 'utf8');
  } catch {
    return undefined; // the caller decides what that means
  }
}
