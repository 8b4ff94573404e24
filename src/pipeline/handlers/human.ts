/** A person decides which edge is taken. graph-pipelines.md 7.4, 12. */
import type { AnsweredBy } from '../../../journal/pipeline-event.js';
import { choicesOf, defaultChoice } from '../model/human-choices.js';
import { answerMeaning, choiceFor, type Choice } from '../model/labels.js';
import { labelOf, nodeAttribute } from '../model/graph.js';
import { outcomeOf, StageError, type StageOutcome } from '../model/outcome.js';
import type { Interviewer, Question } from '../human/interviewer.js';
import type { Handler, Stage } from './handler.js';

export const human: Handler = {
  async handle(stage) {
    const choices = choicesOf(stage.run.pipeline.graph, stage.node);
    if (choices.length === 0) throw new StageError('permanent', `${stage.node.id} has no plain outgoing edge to choose`);
    const { answer } = stage.run.ledger.state.received.get(stage.frame.op.path) ?? (await ask(stage, choices));
    return outcomeFor(stage, choices, answer?.answer ?? 'skipped');
  },
};

interface Given {
  readonly answer: { readonly answer: string; readonly by: AnsweredBy };
}

/** The question and its answer are recorded; an answer is on disk before anything follows from it. */
async function ask(stage: Stage, choices: readonly Choice[]): Promise<Given> {
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
  const told = ledger.append({ type: 'question.asked', op, node: node.id, ...asked });
  if (interviewer.answersAtOnce) run.checkpoint.update();
  else await run.checkpoint.flush(); // whoever is asked may look at it
  await told;
  const answer = await answered(stage, question, choices, interviewer);
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

/** What means a choice, a text that fits none, or `skipped`; undefined when the time is up. */
async function answered(
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
  late.catch(() => undefined); // the run ends: whoever is asked learns it too
  const given = async (): Promise<string> => {
    for (;;) {
      const answer = await interviewer.ask(question, signal);
      if (answer.kind === 'skipped') {
        // Whoever waits no longer was not told to skip: as an answer it would outlast the end of the run.
        if (stage.signal.aborted) throw calledOffError();
        return 'skipped';
      }
      const choice = choiceFor(answer.text, choices);
      if (choice) return answerMeaning(choice, choices);
      if (interviewer.onUnmatched === 'accept') return answer.text;
      interviewer.inform(`"${answer.text.trim()}" fits none of the choices`, question.stage);
    }
  };
  const calledOff = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(calledOffError());
    stage.signal.addEventListener('abort', onAbort, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([given(), late, calledOff]);
  } finally {
    done.abort();
  }
}

function calledOffError(): StageError {
  return new StageError('permanent', 'nobody waits for the answer any more');
}

function outcomeFor(stage: Stage, choices: readonly Choice[], answer: string): StageOutcome {
  const { id } = stage.node;
  if (answer === 'skipped') throw new StageError('permanent', `the question of ${id} was skipped`);
  if (answer === 'timeout') return outcomeOf('retry', { failure_reason: `nobody answered ${id} in time` });
  const choice = choiceFor(answer, choices);
  if (!choice) throw new StageError('permanent', `the answer "${answer.trim()}" fits no choice of ${id}`);
  return outcomeOf('success', {
    preferred_label: choice.label,
    suggested_next_ids: [choice.target],
    context_updates: { 'human.gate.selected': choice.key, 'human.gate.label': choice.label },
  });
}
