/** A branch of a script: the script itself, a function of `parallel()`, an item on its way through `pipeline()`. workflows-js.md 3.1, 8. */
import { sha256 } from '../../../journal/canonical.js';
import { perform } from '../../operation/perform.js';
import type { Frame } from '../../runtime/frame.js';

/** The state that goes along a branch; the stages of an item share one. */
interface BranchState {
  phase: string | undefined;
  /** The time of the work: milliseconds since 1970. */
  clockMs: number;
}

export class Branch {
  private draws = 0;
  private readonly ordinals = new Map<string, number>();

  constructor(
    readonly frame: Frame,
    private readonly state: BranchState,
  ) {}

  get path(): string {
    return this.frame.op.path;
  }

  get phase(): string | undefined {
    return this.state.phase;
  }

  set phase(title: string | undefined) {
    this.state.phase = title;
  }

  /** The number of calls of this name before. */
  nextOrdinal(name: string): number {
    const ordinal = this.ordinals.get(name) ?? 0;
    this.ordinals.set(name, ordinal + 1);
    return ordinal;
  }

  /** Whole milliseconds, as scripts read it. */
  get nowMs(): number {
    return Math.round(this.state.clockMs);
  }

  /** A call of the branch has ended, which took this time when it was executed. */
  took(elapsedMs: number): void {
    this.state.clockMs += elapsedMs;
  }

  /** The branch continues with the latest of those that it waited for. */
  join(branches: readonly Branch[]): void {
    for (const { state } of branches) this.state.clockMs = Math.max(this.state.clockMs, state.clockMs);
  }

  /** A branch that begins here, with the phase and the clock of now. */
  begin(frame: Frame): Branch {
    return new Branch(frame, { ...this.state });
  }

  /** The same branch at an inner place. */
  at(frame: Frame): Branch {
    return new Branch(frame, this.state);
  }

  /** The time of the work does not go back behind this moment. */
  notBefore(ms: number): void {
    this.state.clockMs = Math.max(this.state.clockMs, ms);
  }

  /** From 0 up to 1. */
  random(seed: string): number {
    return Number.parseInt(this.draw(seed).slice(-DIGITS), 16) / 16 ** DIGITS;
  }

  /** A UUID of version 4. */
  uuid(seed: string): string {
    const digits = this.draw(seed).slice(-UUID_DIGITS);
    const variant = (8 + (Number.parseInt(digits.charAt(16), 16) % 4)).toString(16);
    const parts = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(13, 16)}`, variant + digits.slice(17, 20), digits.slice(20)];
    return parts.join('-');
  }

  /** Digits made of seed, path and number of the draw, so that a resumed run draws the same. */
  private draw(seed: string): string {
    return sha256(`${seed}/${this.path}/${this.draws++}`);
  }
}

/** 52 bits, which a number holds exactly. */
const DIGITS = 13;
const UUID_DIGITS = 32;

/** Performs the work of one item in a branch of its own, as an iteration: an operation whose index is in its path. */
export type Iterate = (index: number, body: (branch: Branch) => Promise<void>) => Promise<void>;

/** Performs work in branches of its own as one operation, and continues with the latest of their clocks. */
export async function inBranches(
  branch: Branch,
  { kind, total }: { readonly kind: string; readonly total: number },
  work: (iterate: Iterate) => Promise<void>,
): Promise<void> {
  const plain = { segment: kind, name: null, labels: [], inputs: [] };
  const begun: Branch[] = [];
  try {
    await perform(branch.frame, { ...plain, kind, ordinal: branch.nextOrdinal(kind), total }, async (frame): Promise<undefined> => {
      await work(async (index, body) => {
        await perform(frame, { ...plain, kind: `${kind}:iteration`, index }, async (inner): Promise<undefined> => {
          const item = branch.begin(inner);
          begun.push(item);
          await body(item);
        });
      });
    });
  } finally {
    branch.join(begun);
  }
}
