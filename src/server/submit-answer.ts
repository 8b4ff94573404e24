/**
 * Submits answers to the questions of runs. A run takes an answer from its folder, whether `mlld answer` or a server put it there.
 *
 * ANSWER-1 An accepted answer is in the journal: after a crash the question is not asked again.
 * ANSWER-2 Only one of two answers to a question is accepted, also when they come from different processes.
 * ANSWER-3 An answer to a question of an interrupted run resumes the run, and is submitted when the run asks again: under another id, at
 *          the same operation.
 */
import type { JournalStore } from '../../journal/store.js';
import { answerQuestion, choiceIn, type PipelineRun, type PipelineRuns, type Project } from '../api/pipeline-runs.js';
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

/** Submits answers one after the other, so that the second answer to a question finds it closed. */
export function createAnswerQueue(answering: AnswerPorts): (run: string, question: string, text: string) => Promise<AcceptedAnswer> {
  let last: Promise<unknown> = Promise.resolve();
  return (run, question, text) => {
    const submitted = last.then(() => submit(answering, run, question, text));
    last = submitted.catch(() => undefined);
    return submitted;
  };
}

async function submit(answering: AnswerPorts, id: string, asked: string, text: string): Promise<AcceptedAnswer> {
  const { store, project, runs } = answering;
  const found = await runs.find(id);
  if (!found?.questions.has(asked))
    throw new HttpError(404, 'QUESTION_UNKNOWN', `Run ${id} has no question ${asked}`, {
      hint: `GET /pipelines/${id}/questions lists its questions`,
    });
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
  throw new HttpError(503, 'ANSWER_NOT_TAKEN', `The run has not accepted the answer to ${question} within ${TAKEN_MS_MAX / 1000} s`, {
    hint: 'a run accepts answers from other processes only when it was started with --ask remote',
  });
}

/** Resumes the run and waits until it asks again (ANSWER-3). */
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
  throw new HttpError(503, 'ANSWER_NOT_TAKEN', `The run is resumed, but has not asked ${before} again yet`, {
    hint: 'GET /pipelines/ID/questions lists its questions',
  });
}

/** Yields the run again and again, for as long as an answer may take to reach it. */
async function* pollRun({ runs, monotonicMs }: AnswerPorts, id: string): AsyncGenerator<PipelineRun | undefined> {
  for (const sinceMs = monotonicMs(); monotonicMs() - sinceMs < TAKEN_MS_MAX;) {
    yield await runs.find(id);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function closed(question: string, run: PipelineRun | undefined): HttpError {
  const answer = run?.questions.get(question);
  const why = answer === undefined ? 'the run no longer waits for an answer' : `it was answered with "${answer}"`;
  return new HttpError(409, 'QUESTION_CLOSED', `Question ${question} is closed: ${why}`);
}
