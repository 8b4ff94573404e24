/** The identity of an operation: its path in the run, and for a call its key. design.md 3. */
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';

/** A place in the tree of operations. Names and ordinals come from the program, never from timing. */
export class OpNode {
  private counts: Map<string, number> | undefined;
  private text: string | undefined;

  constructor(
    private readonly parent: OpNode | undefined,
    private readonly segment: string,
  ) {}

  /** The next operation of this name directly below: `review#0`, `review#1`, … */
  child(name: string): OpNode {
    const ordinal = this.counts?.get(name) ?? 0;
    (this.counts ??= new Map()).set(name, ordinal + 1);
    return new OpNode(this, `/${name}#${ordinal}`);
  }

  /** A part whose number is known: a visit of a graph node, which may start again in another run. */
  nth(name: string, ordinal: number): OpNode {
    return new OpNode(this, `/${name}#${ordinal}`);
  }

  /** An iteration, a window, a member of a group: numbered by its place, because it may start in any order. */
  at(index: number, mark = ''): OpNode {
    return new OpNode(this, `[${mark}${index}]`);
  }

  get path(): OpPath {
    return (this.text ??= (this.parent ? this.parent.path : '') + this.segment) as OpPath;
  }

  static root(): OpNode {
    return new OpNode(undefined, 'main');
  }
}

/** The content of a call key. `via` is the call that a one-call wrapper forwards to; `attempt` counts retries from 2. */
export interface CallRequest {
  readonly fn: string;
  readonly args: readonly Json[];
  readonly via?: { readonly fn: string; readonly args: readonly Json[] };
  readonly attempt?: number;
}

/** checkpoint-resume.md 6: members in this order, object members inside the arguments sorted by name. */
export function callKey({ fn, args, via, attempt }: CallRequest): CallKey {
  const list = (values: readonly Json[]): string => `[${values.map(canonicalJson).join(',')}]`;
  const viaText = via ? `,"via":{"fn":${JSON.stringify(via.fn)},"args":${list(via.args)}}` : '';
  const attemptText = attempt === undefined ? '' : `,"attempt":${attempt}`;
  return sha256(`{"fn":${JSON.stringify(fn)},"args":${list(args)}${viaText}${attemptText}}`) as string as CallKey;
}
