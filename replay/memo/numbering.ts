/** Numbers things in the order of their first appearance, so that a table holds each once. */

/** The number of a thing that is not there. */
export const NONE = -1;

export interface Numbering<Thing> {
  readonly all: readonly Thing[];
  of(thing: Thing | undefined): number;
}

export function numbering<Thing>(identity?: (thing: Thing) => unknown): Numbering<Thing> {
  const numbers = new Map<unknown, number>();
  const all: Thing[] = [];
  // Neighbours are often the same.
  let last: Thing | undefined;
  let lastNumber = NONE;
  return {
    all,
    of(thing) {
      if (thing === undefined) return NONE;
      if (thing === last) return lastNumber;
      const id = identity ? identity(thing) : thing;
      let number = numbers.get(id);
      if (number === undefined) {
        number = all.push(thing) - 1;
        numbers.set(id, number);
      }
      last = thing;
      lastNumber = number;
      return number;
    },
  };
}
