/** Shows the figures at the top of a page: each a term, its value, and a few words more. */

export interface Figure {
  readonly term: string;
  readonly value: string;
  readonly more: string;
  /** Is the class that sets off a figure which needs attention. */
  readonly mark?: 'bad' | 'urgent' | undefined;
}

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ term, value, more, mark }) => (
        <div key={term} class={mark}>
          <dt>{term}</dt>
          <dd>
            <b>{value}</b> <span>{more}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
