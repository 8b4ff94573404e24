/** Words the choices of a question that a pipeline asks people. */
export { answerMeaning, choiceLine } from '../../pipeline/model/labels.js';
