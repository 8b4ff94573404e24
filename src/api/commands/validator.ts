/** Checks scripts and templates: `mlld validate`, and every run before it starts. */
export { displayPath } from '../../language/paths.js';
export { findSources } from '../../validate/linking/find-sources.js';
export { withoutRepeats, type FileReport, type Finding } from '../../validate/report.js';
export { canValidate, createValidator, type ValidatorSettings } from '../../validate/validator.js';
export { sourceFilesOnDisk, type SourceFiles } from '../../world/files/source-files.js';
