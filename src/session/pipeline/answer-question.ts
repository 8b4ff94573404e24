/** Answers a question of a pipeline that runs in another process: for `mlld answer` and the server. graph-pipelines.md 12.1, 13.1. */
import path from 'node:path';
import { isRunId, type RunId } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import type { WaitingQuestion } from '../../../replay/pipeline/waiting-question.js';
import { MlldError } from '../../errors.js';
import { answerMeaning, choiceFor, choiceLine, type Choice } from '../../pipeline/model/labels.js';
import { answerFile } from '../../pipeline/human/remote.js';
import { type Project, type WorkingProject } from '../project.js';
import { resolveWorkflow } from '../resolve-workflow.js';
import { allRuns, findRun } from '../recorded-run.js';
import { onOneLine } from '../../values/shortened.js';
import { createLiveWorld } from '../../world/live.js';
import { openChain, type Chain } from './history/chain.js';
import { isFolderInUse } from './manifest.js';

export interface AnswerRequest {
  readonly store: JournalStore;
  readonly project: Project;
  /** The id of the chain, or of the latest run in it. */
  readonly run: string;
  /** By default the question that was asked first. */
  readonly question?: string;
  /** A key, a label, a normalised label, the node that a choice leads to. An empty text fits none. */
  readonly text: string;
}

export interface GivenAnswer {
  readonly question: WaitingQuestion;
  readonly choice: Choice;
  /** As it will be recorded. */
  readonly answer: string;
}

/**
 * Answers a question that a running pipeline has asked a person. Resolves when the answer is stored where the run reads it. Throws
 * RUN_UNKNOWN, QUESTION_CLOSED, RUN_ELSEWHERE and ANSWER_UNFIT.
 *
 * ```js
 * await answerQuestion({ store, project, run: report.journal.run, text: 'approve' });
 * ```
 */
export async function answerQuestion({ store, project, run, question: id, text }: AnswerRequest): Promise<GivenAnswer> {
  const chain = await runningChain(store, run);
  const open = [...chain.state.questions.values()];
  const question = id === undefined ? open[0] : open.find((candidate) => candidate.id === id);
  if (!question || chain.latest.liveness !== 'running') {
    throw new MlldError('QUESTION_CLOSED', `Run ${run} waits for no answer${id === undefined ? '' : ` to ${id}`}`, {
      hint: 'mlld journal show lists the questions of a run',
    });
  }
  const choice = choiceIn(question, text);
  const answer = answerMeaning(choice, question.options);
  const nowhere = { stdin: async () => undefined, stdout: () => undefined, stderr: () => undefined, environment: {} };
  const world = createLiveWorld(nowhere);
  try {
    const folder = path.resolve(project.root, chain.state.runDir);
    // A run of another machine reads no file of this one, and its record could name any folder.
    const journalRun = chain.latest.ref.run;
    const isHere = await isFolderInUse(world, folder, { runId: chain.state.runId, journalRun });
    if (!isHere || path.basename(question.id) !== question.id) throw elsewhere(run, journalRun);
    await world.perform('file.write', { path: answerFile(folder, question.id), text: answer });
  } finally {
    await world.close('the answer is given');
  }
  return { question, choice, answer };
}

function elsewhere(run: string, latest: RunId): MlldError {
  return new MlldError('RUN_ELSEWHERE', `Run ${run} does not run in this folder, and takes no answer from here`, {
    hint: `answer it where it was last started or resumed; mlld journal show ${latest} says on which machine`,
  });
}

/**
 * Finds the run that a user means: by an id or a beginning of one, by the name or path of its pipeline (the latest run), or by `latest`,
 * the one that started last among those that wait for an answer. Throws RUN_UNKNOWN, RUN_AMBIGUOUS, SCRIPT_AMBIGUOUS.
 */
export async function runToAnswer(store: JournalStore, project: WorkingProject, text: string): Promise<RunId> {
  if (text === 'latest') return latestWaiting(store);
  const isName = !isRunId(text) && (await resolveWorkflow(store, project, text)) === undefined;
  const asFile = isName && (await resolveWorkflow(store, project, `${text}.dot`)) !== undefined;
  return (await findRun(store, project, asFile ? `${text}.dot` : text)).ref.run;
}

async function latestWaiting(store: JournalStore): Promise<RunId> {
  for (const file of (await allRuns(store)).toReversed()) {
    if (file.liveness === 'running' && (await openChain(store, file)).state.questions.size > 0) return file.ref.run;
  }
  throw new MlldError('RUN_UNKNOWN', 'No pipeline waits for an answer', { hint: 'mlld journal list shows the runs there are' });
}

/** Throws ANSWER_UNFIT. */
export function choiceIn({ id, text: asked, options }: WaitingQuestion, text: string): Choice {
  const choice = choiceFor(text, options);
  if (choice) return choice;
  const problem = text === '' ? `${id} waits for a choice` : `"${text}" fits no choice of ${id}`;
  throw new MlldError('ANSWER_UNFIT', onOneLine(`${problem}: ${asked}`), { hint: onOneLine(options.map(choiceLine).join(', ')) });
}

async function runningChain(store: JournalStore, run: string): Promise<Chain> {
  const ref = isRunId(run) ? await store.find(run) : undefined;
  if (!ref) throw new MlldError('RUN_UNKNOWN', `There is no run ${run}`, { hint: 'mlld journal list shows the runs there are' });
  for (const file of (await store.runs(ref.workflow)).toReversed()) {
    const chain = await openChain(store, file);
    if (chain.segments.some((segment) => segment.ref.run === run)) return chain;
  }
  throw new MlldError('RUN_UNKNOWN', `Run ${run} is not a run of a pipeline`);
}
