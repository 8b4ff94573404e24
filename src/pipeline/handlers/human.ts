/** Handles a human gate: a person chooses the edge to take. graph-pipelines.md 7.4, 12. */
import type { AnsweredBy } from '../../../journal/facts/pipeline-event.js';
import { choicesOf, defaultChoice } from '../model/human-choices.js';
import { answerMeaning, choiceFor, type Choice } from '../model/labels.js';
import { labelOf, nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type StageOutcome } from '../model/outcome.js';
import type { Interviewer, Question } from '../human/interviewer.js';
import type { Stage } from '../stage/stage.js';
import type { Handler } from './handler.js';

export const human: Handler = {
  async handle(stage) {
    const choices = choicesOf(stage.run.pipeline.graph, stage.node);
    if (choices.length === 0)
      throw new StageError('permanent', `${stage.node.id} has no edge to choose from: add an outgoing edge without a condition`);
    const { answer } = stage.run.ledger.state.received.get(stage.frame.op.path) ?? (await ask(stage, choices));
    return outcomeFor(stage, choices, answer?.answer ?? 'skipped');
  },
};

interface RecordedAnswer {
  readonly answer: { readonly answer: string; readonly by: AnsweredBy };
}

/** Records the question and its answer; the answer is on disk before anything depends on it. */
async function ask(stage: Stage, choices: readonly Choice[]): Promise<RecordedAnswer> {
  const { run, node, frame } = stage;
  const { ledger, interviewer } = run;
  const timeoutMs = nodeAttribute(node, 'timeout');
  const byDefault = defaultChoice(node, choices);
  const fallback = byDefault && answerMeaning(byDefault, choices);
  const question: Question = {
    id: `q${ledger.state.questionCount + 1}`,
    text: labelOf(node) || 'Choose one:',
    kind: 'multiple_choice',
    options: choices.map(({ key, label, target }) => ({ key, label, target })),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    stage: node.id,
  };
  const { stage: _, metadata: __, ...asked } = question;
  const op = frame.op.path;
  const recorded = ledger.append({ type: 'question.asked', op, node: node.id, ...asked });
  if (interviewer.answersAtOnce) run.checkpoint.update();
  else await run.checkpoint.flush(); // a person may read the checkpoint before answering
  await recorded;
  const answer = await answerTo(stage, question, choices, interviewer);
  const by = answer === undefined ? 'default' : interviewer.by;
  const text = answer ?? fallback ?? 'timeout';
  await ledger.append({
    type: 'question.answered',
    op,
    id: question.id,
    node: node.id,
    answer: text,
    by: text === 'timeout' ? interviewer.by : by,
  });
  return { answer: { answer: text, by } };
}

/** Returns the answer for a choice, a text that fits none, or `skipped`; undefined when the time is over. */
async function answerTo(
  stage: Stage,
  question: Question,
  choices: readonly Choice[],
  interviewer: Interviewer,
): Promise<string | undefined> {
  const { run, frame } = stage;
  const done = new AbortController();
  const signal = AbortSignal.any([stage.signal, done.signal]);
  const { timeoutMs } = question;
  const late =
    timeoutMs === undefined
      ? new Promise<undefined>(() => undefined)
      : run.wait({ until: 'late', op: frame.op.path, ms: timeoutMs }, signal).then(() => undefined);
  late.catch(() => undefined); // rejects when the run ends; the interviewer's signal is aborted then as well
  const matched = async (): Promise<string> => {
    for (;;) {
      const answer = await interviewer.ask(question, signal);
      if (answer.kind === 'skipped') {
        // An aborted wait is not a decision to skip: recorded as one it would outlast the end of the run.
        if (stage.signal.aborted) throw calledOffError();
        return 'skipped';
      }
      const choice = choiceFor(answer.text, choices);
      if (choice) return answerMeaning(choice, choices);
      if (interviewer.onUnmatched === 'accept') return answer.text;
      interviewer.inform(`"${answer.text.trim()}" is not one of the choices`, question.stage);
    }
  };
  const calledOff = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(calledOffError());
    stage.signal.addEventListener('abort', onAbort, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([matched(), late, calledOff]);
  } finally {
    done.abort();
  }
}

function calledOffError(): StageError {
  return new StageError('permanent', 'the question was withdrawn: the run or its branch ended');
}

function outcomeFor(stage: Stage, choices: readonly Choice[], answer: string): StageOutcome {
  const { id } = stage.node;
  if (answer === 'skipped') throw new StageError('permanent', `the question of ${id} was skipped`);
  if (answer === 'timeout') return outcomeOf('retry', { failure_reason: `${id} was not answered in time` });
  const choice = choiceFor(answer, choices);
  if (!choice) throw new StageError('permanent', `the answer "${answer.trim()}" fits no choice of ${id}`);
  return outcomeOf('success', {
    preferred_label: choice.label,
    suggested_next_ids: [choice.target],
    context_updates: { 'human.gate.selected': choice.key, 'human.gate.label': choice.label },
  });
}
