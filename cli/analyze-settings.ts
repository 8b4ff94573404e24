/** How the project wants its files to be looked at. */
import type { AnalyzeSettings } from '../src/analyze/analyze.js';
import { displayPath } from '../src/modules/paths.js';
import type { Project } from '../src/project.js';
import { sourceFilesOnDisk } from '../src/world/source-files.js';
import type { Io } from './io.js';

export function analyzeSettings(io: Io, { root, config }: Project, depth: AnalyzeSettings['depth']): AnalyzeSettings {
  return {
    files: sourceFilesOnDisk(),
    display: (absolute) => displayPath(absolute, io),
    projectRoot: root,
    prefixes: config.prefixes,
    suppressed: config.suppressWarnings,
    depth,
  };
}
