/** A table that scrolls inside itself where there is no room for it. A cell that is a number is aligned with the others. */
import type { ComponentChildren } from 'preact';

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
}

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
      <table>
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
                <td key={place} class={columns[place]?.isNumber ? 'number' : undefined}>
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
