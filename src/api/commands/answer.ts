/** Answers the question that a pipeline waits with: `mlld answer`. */
export { answerQuestion, runToAnswer } from '../../session/pipeline/answer-question.js';
