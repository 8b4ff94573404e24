/** Reads the flags that say how a report is printed. */
import { MlldError } from '../../src/errors.js';

export type Format = 'table' | 'json' | 'csv';

/** `--json` and `--csv` are short for a format. Throws USAGE where two flags say different things. */
export function formatOf(given: { readonly format?: Format; readonly json?: true; readonly csv?: true }): Format {
  const named = new Set<Format>([
    ...(given.format === undefined ? [] : [given.format]),
    ...(given.json ? (['json'] as const) : []),
    ...(given.csv ? (['csv'] as const) : []),
  ]);
  const [format = 'table', other] = named;
  if (other === undefined) return format;
  throw new MlldError('USAGE', `A report is printed as ${format} or as ${other}, not both`, { hint: `--format ${format}` });
}
