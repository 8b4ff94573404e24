/** Checks scripts and templates: `mlld validate`, and every run before it starts. */
export { displayPath } from '../../language/paths.js';
export { findSources } from '../../validate/linking/find-sources.js';
export { MISSING_NEED } from '../../validate/needs/check-needs.js';
export { withoutRepeats, type FileReport, type Finding } from '../../validate/report.js';
export { canValidate, createValidator, type ValidatorSettings } from '../../validate/validator.js';
export { searchPathOf } from '../../world/files/search-path.js';
export { sourceFilesOnDisk, type SourceFiles } from '../../world/files/source-files.js';
