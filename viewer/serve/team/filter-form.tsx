/** Lets a reader choose which runs are listed and added up. `/` moves to the search. */
import { useEffect, useRef } from 'preact/hooks';
import type { RunPage } from '../../../src/api/team/filter-runs.js';
import { useTypedText } from '../../shared/typed-text.js';
import type { Shown } from './requests.js';

/** A search begins when nothing was typed for so long. */
const TYPING_MS = 250;
const PERIODS: readonly (readonly [string, string])[] = [
  ['1', 'today'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
];

interface FilterFormProps {
  readonly shown: Shown;
  readonly page: RunPage | undefined;
  readonly onChange: (changed: Partial<Shown>) => void;
}

export function FilterForm({ shown, page, onChange }: FilterFormProps) {
  const { text, setText, asked } = useTypedText(shown.q);
  const search = useRef<HTMLInputElement>(null);
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    const type = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
      event.preventDefault();
      search.current?.focus();
    };
    document.addEventListener('keydown', type);
    return () => {
      document.removeEventListener('keydown', type);
      clearTimeout(typing.current);
    };
  }, []);
  const find = (q: string): void => {
    setText(q);
    clearTimeout(typing.current);
    typing.current = setTimeout(() => latest.current({ q: asked(q.trim()) }), TYPING_MS);
  };
  const statuses = Object.entries(page?.statuses ?? {}).toSorted(([, one], [, other]) => other - one);
  return (
    <form class="card filter" role="search" aria-label="Runs" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span>Search</span>
        <input
          ref={search}
          type="search"
          placeholder="script, run, person, model"
          aria-keyshortcuts="/"
          value={text}
          onInput={(event) => find(event.currentTarget.value)}
        />
      </label>
      <Choice
        label="Status"
        value={shown.status}
        choices={withChosen(
          shown.status,
          statuses.map(([status, count]) => [status, `${status} (${count})`] as const),
        )}
        onChange={(status) => onChange({ status })}
      />
      <Choice
        label="Person"
        value={shown.person}
        choices={withChosen(
          shown.person,
          (page?.people ?? []).map((person) => [person, person] as const),
        )}
        onChange={(person) => onChange({ person })}
      />
      <Choice
        label="Workflow"
        value={shown.workflow}
        choices={withChosen(
          shown.workflow,
          (page?.workflows ?? []).map((workflow) => [workflow, workflow] as const),
        )}
        onChange={(workflow) => onChange({ workflow })}
      />
      <label>
        <span>Period</span>
        <select value={shown.days} onChange={(event) => onChange({ days: event.currentTarget.value })}>
          {withChosen(shown.days, PERIODS).map(([value, words]) => (
            <option key={value} value={value}>
              {words === value ? `${value} days` : words}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">all</option>
        {choices.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Keeps the chosen value among the choices, also while there is none of it. */
function withChosen(value: string, choices: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return value === '' || choices.some(([each]) => each === value) ? choices : [[value, value], ...choices];
}
