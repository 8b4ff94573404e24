/** Says in words what reports name: durations, changes of definitions, causes of failures. */
export { wordsOfAttempt } from '../../../journal/facts/attempt-number.js';
export { describeChange, describeEdit } from '../../../replay/memo/definitions.js';
export { keyDigitsOf } from '../../../replay/workflows/agent-calls.js';
export { atHost } from '../../../replay/reports/team/at-host.js';
export { duration } from '../../../replay/fold/duration.js';
export { budgetText, parseBudget } from '../../calls/budget/limits.js';
export { wordsOfCause } from '../../calls/failure.js';
export { MODEL_PROGRAMS } from '../../calls/backends/programs.js';
