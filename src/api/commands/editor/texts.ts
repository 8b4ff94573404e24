/** Answers an editor about the files that it shows: `mlld lsp`. */
export { completionAt } from '../../../editor/completion/completion.js';
export type { Suggestion } from '../../../editor/completion/suggestion.js';
export { completionBeside } from '../../../editor/completion/beside.js';
export { definitionAt } from '../../../editor/definition.js';
export { Editor } from '../../../editor/editor.js';
export { hoverAt } from '../../../editor/hover.js';
export { llmFunctionsOf } from '../../../editor/llm-functions.js';
export { outlineOf, type OutlineEntry } from '../../../editor/outline.js';
export { offsetAt } from '../../../editor/positions.js';
export { joinedProblems, type Problem, type ProblemsByFile } from '../../../editor/problems.js';
export type { ProjectView } from '../../../editor/project-view.js';
export { readableScript } from '../../../editor/readable-script.js';
export { renameAt, renamingAt } from '../../../editor/rename.js';
