/**
 * A table that scrolls inside itself where there is no room for it; on a phone each row of a wide one becomes a paragraph, with the titles
 * before their values. A cell that is a number is aligned with the others.
 */
import type { ComponentChildren } from 'preact';

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
}

const NARROW_COLUMNS = 3;

export function Table({
  label,
  columns,
  rows,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class={columns.length > NARROW_COLUMNS ? 'wide' : undefined}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, place) => (
                <td key={place} data-title={columns[place]?.title} class={classOf(columns[place], cell)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A cell that holds nothing is left out of a paragraph. */
function classOf(column: Column | undefined, cell: ComponentChildren): string | undefined {
  const names = [...(column?.isNumber ? ['number'] : []), ...(cell === '' || cell === '–' ? ['nothing'] : [])];
  return names.length === 0 ? undefined : names.join(' ');
}
