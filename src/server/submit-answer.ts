/**
 * Answers to questions of runs. A run takes an answer from its folder, so that `mlld answer` and a server give it alike.
 *
 * W1 Accepted means that the answer is in the journal: a crash behind it asks nobody again.
 * W2 Of two answers to one question one is accepted, whoever gave the other.
 * W3 An answer to what an interrupted run had asked resumes it, and is given when the run asks again: under another id, at the same place.
 */
import type { JournalStore } from '../../journal/store.js';
import type { Project } from '../session/project.js';
import { answerQuestion, choiceIn } from '../session/pipeline/answer-question.js';
import type { PipelineRuns, PipelineRun } from '../session/pipeline/history/pipeline-runs.js';
import { HttpError } from './http-error.js';

export interface AcceptedAnswer {
  readonly id: string;
  readonly accepted: true;
  readonly choice: { readonly key: string; readonly label: string };
}

export interface AnswerPorts {
  readonly store: JournalStore;
  readonly project: Project;
  readonly runs: PipelineRuns;
  readonly resume: (run: PipelineRun) => Promise<void>;
  readonly monotonicMs: () => number;
}

const TAKEN_MS_MAX = 10_000;
const POLL_MS = 50;

/** Gives one answer after the other, so that the second one to a question finds it closed. */
export function createAnswerQueue(answering: AnswerPorts): (run: string, question: string, text: string) => Promise<AcceptedAnswer> {
  let last: Promise<unknown> = Promise.resolve();
  return (run, question, text) => {
    const given = last.then(() => submit(answering, run, question, text));
    last = given.catch(() => undefined);
    return given;
  };
}

async function submit(answering: AnswerPorts, id: string, asked: string, text: string): Promise<AcceptedAnswer> {
  const { store, project, runs } = answering;
  const found = await runs.find(id);
  if (!found?.questions.has(asked)) throw new HttpError(404, 'QUESTION_UNKNOWN', `Run ${id} has asked no question ${asked}`);
  const open = found.openQuestions.find((each) => each.id === asked);
  if (!open) throw closed(asked, found);
  choiceIn(open, text);
  const { run, question } =
    found.status.status === 'interrupted' ? await askedAgain(answering, found, open) : { run: found, question: asked };
  const { choice, answer: meant } = await answerQuestion({ store, project, run: run.latest.ref.run, question, text });
  const { key, label } = choice;
  for await (const now of pollRun(answering, id)) {
    const answer = now?.questions.get(question);
    if (answer === meant) return { id: question, accepted: true, choice: { key, label } };
    if (!now || answer !== undefined || !now.openQuestions.some((each) => each.id === question)) throw closed(question, now);
  }
  throw new HttpError(503, 'ANSWER_NOT_TAKEN', `The run has not taken the answer to ${question}`, {
    hint: 'it takes answers from elsewhere only when it was started with --ask remote',
  });
}

/** W3 */
async function askedAgain(
  answering: AnswerPorts,
  interrupted: PipelineRun,
  { id: before, op }: PipelineRun['openQuestions'][number],
): Promise<{ readonly run: PipelineRun; readonly question: string }> {
  await answering.resume(interrupted);
  for await (const run of pollRun(answering, interrupted.logicalRun.id)) {
    const again = run?.openQuestions.find((each) => each.op === op && each.id !== before);
    if (run?.status.status === 'waiting' && again) return { run, question: again.id };
    if (!run || !(run.status.status === 'running' || run.status.status === 'waiting')) throw closed(before, run);
  }
  throw new HttpError(503, 'ANSWER_NOT_TAKEN', `The run goes on, and has not asked ${before} again yet`, {
    hint: 'its questions are those of GET /pipelines/ID/questions',
  });
}

/** At a run, again and again, while an answer may take to get there. */
async function* pollRun({ runs, monotonicMs }: AnswerPorts, id: string): AsyncGenerator<PipelineRun | undefined> {
  for (const sinceMs = monotonicMs(); monotonicMs() - sinceMs < TAKEN_MS_MAX;) {
    yield await runs.find(id);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function closed(question: string, run: PipelineRun | undefined): HttpError {
  const answer = run?.questions.get(question);
  const why = answer === undefined ? 'nobody waits for an answer any more' : `it was answered with "${answer}"`;
  return new HttpError(409, 'QUESTION_CLOSED', `Question ${question} is closed: ${why}`);
}
