/** Answers a question that a running pipeline has put to somebody elsewhere: `mlld answer`, a server. Reference 12.1, 13.1. */
import path from 'node:path';
import { isRunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { OpenQuestion } from '../../../replay/graph-state.js';
import { MlldError } from '../../errors.js';
import { answerMeaning, choiceFor, choiceLine, type Choice } from '../../graph/labels.js';
import { answerFile } from '../../graph/people/remote.js';
import type { Project } from '../../project.js';
import { createLiveWorld } from '../../world/live.js';
import { openChain, type Chain } from './chain.js';

export interface AnswerRequest {
  readonly store: JournalStore;
  readonly project: Project;
  /** Of the chain, or of the latest run in it. */
  readonly run: string;
  /** By default the question that has been open for longest. */
  readonly question?: string;
  /** A key, a label, a normalised label, the node that a choice leads to. */
  readonly text: string;
}

export interface GivenAnswer {
  readonly question: OpenQuestion;
  readonly choice: Choice;
  /** As it will be recorded. */
  readonly answer: string;
}

/** Resolves when the answer lies where the run will find it. Throws RUN_UNKNOWN, QUESTION_CLOSED, ANSWER_UNFIT. */
export async function answerQuestion({ store, project, run, question: id, text }: AnswerRequest): Promise<GivenAnswer> {
  const chain = await runningChain(store, run);
  const open = [...chain.state.questions.values()];
  const question = id === undefined ? open[0] : open.find((candidate) => candidate.id === id);
  if (!question || chain.latest.liveness !== 'running') {
    throw new MlldError('QUESTION_CLOSED', `Run ${run} waits for no answer${id === undefined ? '' : ` to ${id}`}`, {
      hint: 'mlld journal show tells what was asked',
    });
  }
  const choice = choiceFor(text, question.options);
  if (!choice) {
    throw new MlldError('ANSWER_UNFIT', `"${text}" fits no choice of ${question.id}: ${question.text}`, {
      hint: question.options.map(choiceLine).join(', '),
    });
  }
  const answer = answerMeaning(choice, question.options);
  const nowhere = { stdin: async () => undefined, stdout: () => undefined, stderr: () => undefined, environment: {} };
  const world = createLiveWorld(nowhere);
  try {
    const folder = path.resolve(project.root, chain.state.runDir);
    await world.ask('file.write', { path: answerFile(folder, question.id), text: answer });
  } finally {
    await world.close('the answer is given');
  }
  return { question, choice, answer };
}

async function runningChain(store: JournalStore, run: string): Promise<Chain> {
  const ref = isRunId(run) ? await store.find(run) : undefined;
  if (!ref) throw new MlldError('RUN_UNKNOWN', `There is no run ${run}`, { hint: 'mlld journal list shows the runs there are' });
  for (const file of (await store.runs(ref.workflow)).toReversed()) {
    const chain = await openChain(store, file);
    if (chain.segments.some((segment) => segment.ref.run === run)) return chain;
  }
  throw new MlldError('RUN_UNKNOWN', `Run ${run} is no run of a pipeline`);
}
