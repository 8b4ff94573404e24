/** Open questions: answered by a click, or by pressing the key of a choice. */
import { element, section } from '../dom.js';
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

  async function give(question: Question, key: string): Promise<void> {
    for (const button of root.querySelectorAll('button')) button.disabled = true;
    root.querySelector('.message')?.remove();
    try {
      await answer(question.id, key);
      if (open[0] === question) open = open.slice(1); // until the server says so, too
    } catch (error) {
      root.append(element('p', { class: 'message', role: 'alert' }, (error as Error).message));
    }
    for (const button of root.querySelectorAll('button')) button.disabled = false;
  }

  function panel(question: Question): HTMLElement {
    const choices = question.options.map(({ key, label }) => {
      const button = element('button', { type: 'button', 'aria-keyshortcuts': key }, label);
      if (!label.toUpperCase().startsWith(`[${key}]`)) button.append(' ', element('kbd', {}, key));
      if (key === question.default) button.append(' (default)');
      button.addEventListener('click', () => void give(question, key));
      return button;
    });
    const made = section('Question', element('p', {}, question.text), element('div', { class: 'choices' }, ...choices));
    made.className = 'question';
    return made;
  }

  document.addEventListener(
    'keydown',
    (event) => {
      if (event.target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
      const [first] = open;
      const option = first?.options.find(({ key }) => key.toLowerCase() === event.key.toLowerCase());
      if (!first || !option || root.querySelector('button:disabled')) return;
      event.preventDefault();
      void give(first, option.key);
    },
    { signal: closing.signal },
  );

  return {
    root,
    show(now) {
      const text = JSON.stringify(now);
      if (text === shown) return;
      shown = text;
      open = now;
      root.replaceChildren(...now.map(panel));
    },
    close: () => closing.abort(),
  };
}
