/**
 * Answers to questions of runs. A run takes an answer from its folder, so that `mlld answer` and a server give it alike.
 *
 * W1 Accepted means that the answer is in the journal: a crash behind it asks nobody again.
 * W2 Of two answers to one question one is accepted, whoever gave the other.
 */
import type { JournalStore } from '../../journal/store.js';
import type { Project } from '../project.js';
import { answerQuestion } from '../run/graph/answer.js';
import type { GraphRuns, PipelineRun } from '../run/graph/runs.js';
import { Refusal } from './refusal.js';

export interface AcceptedAnswer {
  readonly id: string;
  readonly accepted: true;
  readonly choice: { readonly key: string; readonly label: string };
}

export interface Answering {
  readonly store: JournalStore;
  readonly project: Project;
  readonly runs: GraphRuns;
  readonly monotonicMs: () => number;
}

const TAKEN_MS_MAX = 10_000;
const POLL_MS = 50;

/** Gives one answer after the other, so that the second one to a question finds it closed. */
export function createAnswers(answering: Answering): (run: string, question: string, text: string) => Promise<AcceptedAnswer> {
  let last: Promise<unknown> = Promise.resolve();
  return (run, question, text) => {
    const given = last.then(() => give(answering, run, question, text));
    last = given.catch(() => undefined);
    return given;
  };
}

async function give(answering: Answering, id: string, question: string, text: string): Promise<AcceptedAnswer> {
  const { store, project, runs, monotonicMs } = answering;
  const run = await runs.find(id);
  if (!run?.questions.has(question)) throw new Refusal(404, 'QUESTION_UNKNOWN', `Run ${id} has asked no question ${question}`);
  if (!run.open.some((open) => open.id === question)) throw closed(question, run);
  const { choice, answer: meant } = await answerQuestion({ store, project, run: run.latest.ref.run, question, text });
  const { key, label } = choice;
  for (const sinceMs = monotonicMs(); monotonicMs() - sinceMs < TAKEN_MS_MAX;) {
    const now = await runs.find(id);
    const answer = now?.questions.get(question);
    if (answer === meant) return { id: question, accepted: true, choice: { key, label } };
    if (!now || answer !== undefined || !now.open.some((open) => open.id === question)) throw closed(question, now);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Refusal(503, 'ANSWER_NOT_TAKEN', `The run has not taken the answer to ${question}`, {
    hint: 'it takes answers from elsewhere only when it was started with --ask remote',
  });
}

function closed(question: string, run: PipelineRun | undefined): Refusal {
  const answer = run?.questions.get(question);
  const why = answer === undefined ? 'nobody waits for an answer any more' : `it was answered with "${answer}"`;
  return new Refusal(409, 'QUESTION_CLOSED', `Question ${question} is closed: ${why}`);
}
