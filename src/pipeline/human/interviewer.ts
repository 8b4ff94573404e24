/** Declares how a pipeline asks people, and the interviewers that need neither terminal nor file. graph-pipelines.md 12.1. */
import type { AnsweredBy, QuestionKind, QuestionOption } from '../../../journal/facts/pipeline-event.js';

export interface Question {
  /** Unique among a run and the runs that it resumes. */
  readonly id: string;
  readonly text: string;
  readonly kind: QuestionKind;
  readonly options: readonly QuestionOption[];
  readonly default?: string;
  readonly timeoutMs?: number;
  /** The id of the node that asks. */
  readonly stage: string;
  readonly metadata?: { readonly [key: string]: string };
}

/** A text names a choice by its key, label or target. */
export type Answer = { readonly kind: 'given'; readonly text: string } | { readonly kind: 'skipped' };

export interface Interviewer {
  readonly by: AnsweredBy;
  /** Decides what happens to a text that fits no option: ask again, because a person is there, or accept it as it is. */
  readonly onUnmatched: 'ask-again' | 'accept';
  /** True when answers come at once and no person is waited for. */
  readonly answersAtOnce?: true;
  /** @param signal aborted when the answer is no longer needed; resolve then, with any answer */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Shows a message to the person; no answer is expected. */
  inform(message: string, stage: string): void;
}

/** Asks one question after the other. */
export async function askMultiple(
  interviewer: Interviewer,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const question of questions) answers.push(await interviewer.ask(question, signal));
  return answers;
}

/** Answers `yes` where that fits the kind of question, else the first option, else a fixed text. */
export function autoApproveInterviewer(): Interviewer {
  return {
    by: 'auto',
    onUnmatched: 'accept',
    answersAtOnce: true,
    ask: async ({ kind, options }) => {
      if (kind === 'yes_no' || kind === 'confirmation') return textAnswer('yes');
      return textAnswer(options[0]?.key ?? 'auto-approved');
    },
    inform: () => undefined,
  };
}

/** Takes one answer per question from `next`; an empty text or undefined skips the question. */
export function queueInterviewer(next: () => Promise<string | undefined>, by: AnsweredBy = 'stdin'): Interviewer {
  return {
    by,
    onUnmatched: 'accept',
    ask: async () => {
      const line = await next();
      return line === undefined || line.trim() === '' ? { kind: 'skipped' } : textAnswer(line);
    },
    inform: () => undefined,
  };
}

/** Takes answers from a function of the embedding program; undefined skips the question. */
export function callbackInterviewer(answer: (question: Question, signal: AbortSignal) => Promise<string | undefined>): Interviewer {
  return {
    by: 'callback',
    onUnmatched: 'accept',
    ask: async (question, signal) => {
      const text = await answer(question, signal);
      return text === undefined ? { kind: 'skipped' } : textAnswer(text);
    },
    inform: () => undefined,
  };
}

export function textAnswer(text: string): Answer {
  return { kind: 'given', text };
}
