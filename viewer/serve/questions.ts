/** Shows unanswered questions, which are answered by a click or by pressing the key of a choice. */
import { answerMeaning } from '../../src/pipeline/model/labels.js';
import { element, section } from '../shared/dom.js';
import type { Question } from './api.js';

export interface Questions {
  readonly root: HTMLElement;
  show(questions: readonly Question[]): void;
  /** Stops listening to keys. */
  close(): void;
}

export function questions(answer: (question: string, value: string) => Promise<void>): Questions {
  const root = element('div', { 'aria-live': 'polite' });
  const closing = new AbortController();
  let open: readonly Question[] = [];
  let shown = '';

  async function give(question: Question, value: string): Promise<void> {
    for (const button of root.querySelectorAll('button')) button.disabled = true;
    root.querySelector('.message')?.remove();
    try {
      await answer(question.id, value);
      // The question is removed before the next request to the server, so that it can't be answered twice.
      if (open.includes(question)) draw(open.filter((each) => each !== question));
    } catch (error) {
      root.append(element('p', { class: 'message', role: 'alert' }, (error as Error).message));
    }
    for (const button of root.querySelectorAll('button')) button.disabled = false;
  }

  function draw(now: readonly Question[]): void {
    open = now;
    root.replaceChildren(...now.map(panel));
  }

  function panel(question: Question): HTMLElement {
    const choices = choicesOf(question).map(({ shortcut, label, value }) => {
      const button = element('button', { type: 'button', ...(shortcut === undefined ? {} : { 'aria-keyshortcuts': shortcut }) }, label);
      if (shortcut !== undefined && !label.toUpperCase().startsWith(`[${shortcut}]`)) button.append(' ', element('kbd', {}, shortcut));
      if (value === question.default) button.append(' (default)');
      button.addEventListener('click', () => void give(question, value));
      return button;
    });
    const made = section('Question', element('p', {}, question.text), element('div', { class: 'choices' }, ...choices));
    made.className = 'question';
    made.dataset['question'] = question.id;
    return made;
  }

  document.addEventListener(
    'keydown',
    (event) => {
      if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
      const [first] = open;
      const choice = first && choicesOf(first).find(({ shortcut }) => shortcut?.toLowerCase() === event.key.toLowerCase());
      if (!first || !choice || root.querySelector('button:disabled')) return;
      event.preventDefault();
      void give(first, choice.value);
    },
    { signal: closing.signal },
  );

  return {
    root,
    show(now) {
      const text = JSON.stringify(now);
      if (text === shown) return;
      shown = text;
      draw(now);
    },
    close: () => closing.abort(),
  };
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
