/** Asking people. graph-pipelines.md 12.1. */
import type { AnsweredBy, QuestionKind, QuestionOption } from '../../../journal/pipeline-event.js';

export interface Question {
  /** Within the chain of runs. */
  readonly id: string;
  readonly text: string;
  readonly kind: QuestionKind;
  readonly options: readonly QuestionOption[];
  readonly default?: string;
  readonly timeoutMs?: number;
  /** The node that asks. */
  readonly stage: string;
  readonly metadata?: { readonly [key: string]: string };
}

/** What was given: a key, a text, or nothing. */
export type Answer = { readonly kind: 'given'; readonly text: string } | { readonly kind: 'skipped' };

export interface Interviewer {
  readonly by: AnsweredBy;
  /** What to do with a text that fits no option: ask again (somebody is there), or take it as it is. */
  readonly onUnmatched: 'ask-again' | 'accept';
  /** Answers by itself, at once: nobody is waited for. */
  readonly answersAtOnce?: true;
  /** `signal` is aborted when nobody waits for the answer any more. */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Tells a person something; nothing is expected back. */
  inform(message: string, stage: string): void;
}

/** One question after the other. */
export async function askMultiple(
  interviewer: Interviewer,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const question of questions) answers.push(await interviewer.ask(question, signal));
  return answers;
}

/** `yes`, the first option, or a fixed text. */
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

/** Each question takes one answer; an empty one, or none left, skips it. */
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

/** Answers of the embedding program; undefined skips. */
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
