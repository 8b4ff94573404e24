/** Renders a question of a pipeline that is answered from elsewhere. */
import type { EventOf } from '../../journal/event.js';
import { answerMeaning, choiceLine } from '../../src/api/commands/pipeline.js';
import { shellWords } from './shell-words.js';

/** Returns the question and its choices, for who answers on standard input. */
export function renderOpenQuestion({ id, text, options }: EventOf<'question.asked'>): string {
  return `${id}: ${[text, options.map(choiceLine).join(', ')].filter((part) => part !== '').join(' ')}\n`;
}

/** Returns the question, its choices, and the command that answers it. */
export function renderQuestion(question: EventOf<'question.asked'>, run: string): string {
  const { options } = question;
  const answer = options[0] === undefined ? 'TEXT' : options.map((option) => shellWords([answerMeaning(option, options)])).join('|');
  return `${renderOpenQuestion(question)}  answer it: mlld answer ${run} ${answer}\n`;
}
