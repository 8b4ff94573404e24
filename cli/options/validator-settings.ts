/** Collects what the project's configuration says about checking files. */
import type { ValidatorSettings } from '../../src/validate/validator.js';
import { displayPath } from '../../src/language/paths.js';
import type { Project } from '../../src/session/project.js';
import { sourceFilesOnDisk } from '../../src/world/files/source-files.js';
import type { Io } from '../terminal/io.js';

export function validatorSettings(io: Io, { root, config }: Project, depth: ValidatorSettings['depth']): ValidatorSettings {
  return {
    files: sourceFilesOnDisk(),
    display: (absolute) => displayPath(absolute, io),
    projectRoot: root,
    prefixes: config.prefixes,
    suppressed: config.suppressWarnings,
    depth,
  };
}
