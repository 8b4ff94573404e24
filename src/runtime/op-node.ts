/** The place of an operation in its run: a path of names and ordinals. design.md 3. */
import type { OpPath } from '../../journal/ids.js';

/** A place in the tree of operations. Names and ordinals come from the program, never from timing. */
export class OpNode {
  readonly path: OpPath;
  private counts: Map<string, number> | undefined;

  private constructor(
    private readonly parent: OpNode | undefined,
    private readonly segment: string,
  ) {
    this.path = (parent === undefined ? segment : parent.path + segment) as OpPath;
  }

  /** The next operation of this name directly below: `review#0`, `review#1`, … */
  child(name: string): OpNode {
    return new OpNode(this, `/${name}#${this.ordinalOf(name)}`);
  }

  private ordinalOf(name: string): number {
    const ordinal = this.counts?.get(name) ?? 0;
    (this.counts ??= new Map()).set(name, ordinal + 1);
    return ordinal;
  }

  /** A part whose number is known: a visit of a graph node, which may start again in another run. */
  nth(name: string, ordinal: number): OpNode {
    return new OpNode(this, `/${name}#${ordinal}`);
  }

  /** An iteration, a window, a member of a group: numbered by its place, because it may start in any order. */
  at(index: number, mark = ''): OpNode {
    return new OpNode(this, `[${mark}${index}]`);
  }

  /** Holds the members of the next parallel group directly below: of the first one this place itself, then `[p1]`, `[p2]`, … */
  group(): OpNode {
    const ordinal = this.ordinalOf('[p');
    return ordinal === 0 ? this : new OpNode(this, `[p${ordinal}]`);
  }

  /** The same place with new ordinals below it: an attempt repeats what the one before did. */
  again(): OpNode {
    return new OpNode(this.parent, this.segment);
  }

  static root(): OpNode {
    return new OpNode(undefined, 'main');
  }
}
