/** Says in words what reports name: durations, changes of definitions, choices of a question. */
export { describeChange, describeEdit } from '../../../replay/memo/definitions.js';
export { duration } from '../../../replay/fold/duration.js';
export { answerMeaning, choiceLine } from '../../pipeline/model/labels.js';
export { parseBudget } from '../../calls/budget/limits.js';
