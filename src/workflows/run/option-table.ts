/** Checks the options of a call by a table of what each takes. */

/** Says in words what an option must be, and decides it. */
type Takes = readonly [wanted: string, isFit: (value: unknown) => boolean];
export type OptionTable<T> = { readonly [K in keyof T]-?: Takes };

export const TEXT: Takes = ['a text', (value) => typeof value === 'string'];
export const MILLISECONDS: Takes = ['a number of milliseconds above 0', (value) => typeof value === 'number' && value > 0];
export const COUNT: Takes = ['a whole number', (value) => Number.isInteger(value) && (value as number) >= 0];

/** Says what is wrong with the first option that does not fit. Undefined members count as absent; unknown ones are not looked at. */
export function wrongOption<T>(options: object, table: OptionTable<T>): string | undefined {
  for (const [name, [wanted, isFit]] of Object.entries<Takes>(table)) {
    const value = (options as { readonly [name: string]: unknown })[name];
    if (value !== undefined && !isFit(value)) return `${name} must be ${wanted}`;
  }
  return undefined;
}

/** Names of options that the table does not have. */
export function unknownOptions<T>(options: object, table: OptionTable<T>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined || Object.hasOwn(table, name) ? [] : [name]));
}
