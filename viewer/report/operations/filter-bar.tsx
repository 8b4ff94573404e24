/** Narrows the operations by function, state and text. The address follows, so that a link shows the same. */
import { useEffect, useRef } from 'preact/hooks';
import { useTypedText } from '../../shared/typed-text.js';
import type { Model } from '../model/page-model.js';
import { hashOf, isFiltering, NO_FILTER, type Filter } from '../model/route.js';
import { number, stateWords } from '../model/verdict-words.js';

/** Typing goes on while thousands of texts are searched. */
const REST_MS = 150;

export function FilterBar({ model, filter }: { readonly model: Model; readonly filter: Filter }) {
  const { text, setText, asked } = useTypedText(filter.text);
  const field = useRef<HTMLInputElement>(null);
  const set = (change: Partial<Filter>): void => {
    history.replaceState(undefined, '', hashOf({ view: 'operations', filter: { ...filter, ...change } }));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  useEffect(() => {
    if (text === filter.text) return undefined;
    const timer = setTimeout(() => set({ text: asked(text) }), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const type = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', type);
    return () => removeEventListener('keydown', type);
  }, []);
  const names = [...new Set(model.calls.map((span) => model.fnOf(span)))].sort();
  const states = model.report.states.filter((state) =>
    Array.from({ length: model.count }, (_, span) => span).some((span) => model.stateOf(span) === state),
  );
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Function</span>
        <select value={filter.fn} onChange={(event) => set({ fn: event.currentTarget.value })}>
          <option value="">all</option>
          {names.map((name) => (
            <option key={name} value={name}>
              @{name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>State</span>
        <select value={filter.state} onChange={(event) => set({ state: event.currentTarget.value as Filter['state'] })}>
          <option value="">all</option>
          {states.map((state) => (
            <option key={state} value={state}>
              {stateWords(state)}
            </option>
          ))}
        </select>
      </label>
      <label class="wide">
        <span>Text in arguments, results and paths</span>
        <input
          ref={field}
          type="search"
          placeholder="Search ( / )"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isFiltering(filter) && (
        <button type="button" onClick={() => set(NO_FILTER)}>
          Show all {number(model.count)}
        </button>
      )}
    </form>
  );
}
