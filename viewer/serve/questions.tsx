/** Shows unanswered questions, which are answered by a click or by pressing the key of a choice. */
import { useEffect, useState } from 'preact/hooks';
import { time } from '../../cli/render/units.js';
import { answerMeaning } from '../../src/pipeline/model/labels.js';
import { hashOfNode } from '../report/model/route.js';
import type { Question } from './api.js';

interface QuestionsProps {
  readonly questions: readonly Question[];
  /** The times at which they were asked, by their ids: ISO 8601, UTC. */
  readonly asked: ReadonlyMap<string, string>;
  /** False: the token may only read. */
  readonly mayAnswer: boolean;
  readonly answer: (question: string, value: string) => Promise<void>;
}

export function Questions({ questions, asked, mayAnswer, answer }: QuestionsProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const give = (question: Question, value: string): void => {
    setBusy(true);
    setProblem('');
    answer(question.id, value)
      .catch((error: unknown) => setProblem((error as Error).message))
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    const type = (event: KeyboardEvent): void => {
      const { target } = event;
      const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
      if (isTyping || isBusy || !mayAnswer || event.ctrlKey || event.altKey || event.metaKey) return;
      const [first] = questions;
      const choice = first && choicesOf(first).find(({ shortcut }) => shortcut?.toLowerCase() === event.key.toLowerCase());
      if (!first || !choice) return;
      event.preventDefault();
      give(first, choice.value);
    };
    document.addEventListener('keydown', type);
    return () => document.removeEventListener('keydown', type);
  }, [questions, isBusy, mayAnswer]);
  return (
    <div aria-live="polite">
      {questions.map((question) => (
        <section key={question.id} class="card question" aria-label="Question" data-question={question.id}>
          <h2>{question.text}</h2>
          <p class="muted">
            <a href={hashOfNode(question.stage)}>{question.stage}</a> waits for the answer to {question.id}
            <Since asked={asked.get(question.id)} />
          </p>
          <div class="choices">
            {choicesOf(question).map(({ shortcut, label, value }) => (
              <button
                key={label}
                type="button"
                disabled={isBusy || !mayAnswer}
                aria-keyshortcuts={shortcut}
                onClick={() => give(question, value)}
              >
                {label}
                {shortcut !== undefined && !label.toUpperCase().startsWith(`[${shortcut}]`) && (
                  <>
                    {' '}
                    <kbd>{shortcut}</kbd>
                  </>
                )}
                {value === question.default && ' (default)'}
              </button>
            ))}
          </div>
        </section>
      ))}
      {problem !== '' && (
        <p class="message" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Empty until the page of the run has the question too. */
function Since({ asked }: { readonly asked: string | undefined }) {
  if (asked === undefined) return null;
  return (
    <>
      , since <time dateTime={asked}>{time(Date.parse(asked))}</time>
    </>
  );
}

interface ChoiceToShow {
  readonly label: string;
  /** The answer that the choice sends. */
  readonly value: string;
  /** Undefined where two choices have one key: pressing it by accident must not approve anything. */
  readonly shortcut: string | undefined;
}

function choicesOf({ options }: Question): readonly ChoiceToShow[] {
  const choices = options.map(({ key, label }) => ({ key, label, target: label }));
  return choices.map((choice) => ({
    label: choice.label,
    value: answerMeaning(choice, choices),
    shortcut: choices.filter(({ key }) => key === choice.key).length === 1 ? choice.key : undefined,
  }));
}
