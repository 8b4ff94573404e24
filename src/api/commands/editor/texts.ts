/** Answers an editor about the files that it shows: `mlld lsp`. */
export { Editor } from '../../../editor/editor.js';
export { joinedProblems, type Problem, type ProblemsByFile } from '../../../editor/problems.js';
