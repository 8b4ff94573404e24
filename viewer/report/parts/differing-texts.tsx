/** Shows in which lines two texts differ: in two columns, one below the other where there is no room. */
import { sideBySide } from '../model/side-by-side.js';

export function DifferingTexts({
  title,
  lines,
  names,
}: {
  readonly title: string;
  readonly lines: readonly string[];
  readonly names: readonly [string, string];
}) {
  if (lines.length === 0) return null;
  return (
    <div class="text">
      <h3>{title}</h3>
      <div class="scroll code sides" tabIndex={0} role="group" aria-label={title}>
        <table>
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sideBySide(lines).map(({ kind, left, right }, place) =>
              kind === 'part' ? (
                <tr key={place} class="part">
                  <td colSpan={2}>{left}</td>
                </tr>
              ) : (
                <tr key={place}>
                  <td class={kind === 'changed' && left !== null ? 'removed' : undefined}>
                    <code>{left ?? ''}</code>
                  </td>
                  <td class={kind === 'changed' && right !== null ? 'added' : undefined}>
                    <code>{right ?? ''}</code>
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </div>
    </div>
  );
}
