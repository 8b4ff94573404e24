/** Renders a question of a pipeline that is answered from elsewhere, and says how that is done. */
import { answerMeaning, choiceLine } from '../../src/api/reports/choices.js';
import { isUpload } from '../../src/api/commands/project.js';
import { oneLine } from './one-line.js';
import { shellWords } from '../../journal/shell-words.js';
import { duration } from './units.js';

interface Question {
  readonly id: string;
  readonly text: string;
  readonly options: readonly { readonly key: string; readonly label: string; readonly target?: string }[];
}

/** Identifies a run, with the command line that says where it takes answers from. */
export interface AskingRun {
  readonly run: string;
  readonly workflow: string;
  readonly argv: readonly string[];
}

/** Returns the question and its choices, for who answers on standard input. */
export function renderOpenQuestion(question: Question): string {
  return `${indented(askedText(question))}\n`;
}

/** Returns the question, its choices, and the command that answers it. */
export function renderQuestion(question: Question, run: string): string {
  return `${indented(askedText(question))}\n  ${answerText(question, run)}\n`;
}

/** `approve has waited 5.0s for an answer to q1: Send this letter? [S] Send, [A] Again`, and how it is answered. */
export function waitingLines(
  question: Question & { readonly node: string; readonly waitedMs: number; readonly answerable: boolean },
  run: string,
): readonly [asked: string, how: string] {
  const how = question.answerable ? answerText(question, run) : 'answer it on the terminal or the standard input of the run';
  return [`${oneLine(question.node)} has waited ${duration(question.waitedMs)} for an answer to ${oneLine(askedText(question))}`, how];
}

/** Returns what each choice is answered with; nothing for a question that takes any text. */
export function answersTo({ options }: Pick<Question, 'options'>): readonly string[] {
  const choices = options.map(({ key, label, target = label }) => ({ key, label, target }));
  return choices.map((choice) => answerMeaning(choice, choices));
}

/** A question on a terminal or on standard input can't be answered by another process. */
export function isAnsweredFromElsewhere({ argv, workflow }: AskingRun): boolean {
  return argv.includes('remote') || argv.includes('--ask=remote') || isUpload(workflow);
}

function askedText({ id, text, options }: Question): string {
  return `${id}: ${[text, options.map(choiceLine).join(', ')].filter((part) => part !== '').join(' ')}`;
}

/** Further lines of a text begin like no line of mlld's own. */
function indented(text: string): string {
  return text.replaceAll(/\r\n|\n|\r/g, '\n  ');
}

function answerText(question: Question, run: string): string {
  const answers = answersTo(question).map((answer) => shellWords([answer]));
  return `answer it: mlld answer ${run} ${answers.length === 0 ? 'TEXT' : answers.join('|')}`;
}
