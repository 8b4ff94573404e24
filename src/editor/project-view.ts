/**
 * A project between two changes of its open texts. Each file of it is read once; a text that was parsed for an earlier view is not parsed
 * again.
 */
import { openWorkspace, type ParsedSources, type Workspace } from '../validate/linking/workspace.js';
import { createValidator, type Validator, type ValidatorSettings } from '../validate/validator.js';
import type { SourceFiles } from '../world/files/source-files.js';

/** The project of a file, as its configuration describes it. */
export type ProjectSettings = Pick<
  ValidatorSettings,
  'projectRoot' | 'prefixes' | 'modulesFolder' | 'suppressed' | 'searchPath' | 'display'
>;

export interface ProjectView {
  readonly validator: Validator;
  readonly workspace: Workspace;
  /** Returns the absolute path of a file that a finding names. */
  readonly absoluteOf: (display: string) => string | undefined;
}

export function viewProject(settings: ProjectSettings, files: SourceFiles, sources: ParsedSources): ProjectView {
  const shown = new Map<string, string>();
  const display = (absolute: string): string => {
    const name = settings.display(absolute);
    shown.set(name, absolute);
    return name;
  };
  const open = { ...settings, files, sources, display };
  // A source is displayed when it is parsed, which an earlier view may have done.
  for (const absolute of sources.keys()) display(absolute);
  return {
    validator: createValidator({ ...open, depth: 'deep' }),
    workspace: openWorkspace(open),
    absoluteOf: (name) => shown.get(name),
  };
}
