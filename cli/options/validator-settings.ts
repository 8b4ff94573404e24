/** Collects what the project's configuration says about checking files. */
import type { Project } from '../../src/api/commands/project.js';
import { type ValidatorSettings, displayPath, searchPathOf, sourceFilesOnDisk } from '../../src/api/commands/validator.js';
import type { Io } from '../terminal/io.js';

export function validatorSettings(io: Io, { root, config }: Project, depth: ValidatorSettings['depth']): ValidatorSettings {
  return {
    files: sourceFilesOnDisk(),
    display: (absolute) => displayPath(absolute, io),
    projectRoot: root,
    prefixes: config.prefixes,
    ...(config.modules?.folder !== undefined && { modulesFolder: config.modules.folder }),
    suppressed: config.suppressWarnings,
    searchPath: searchPathOf(io.environment),
    depth,
  };
}
