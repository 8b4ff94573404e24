/**
 * The attempts that wait in one lane: those tried again first, then in the order in which they came. One function may be held back by the
 * budget while another one goes on, so that each has its own line.
 */

export interface Queued {
  readonly request: { readonly fn: string; readonly isRetry: boolean };
}

/** So many places at the front of a line may be empty before the rest is moved. */
const EMPTY_MAX = 1000;

class Line<W> {
  private items: { readonly order: number; readonly item: W }[] = [];
  private at = 0;

  push(order: number, item: W): void {
    this.items.push({ order, item });
  }

  get head(): { readonly order: number; readonly item: W } | undefined {
    return this.items[this.at];
  }

  shift(): void {
    this.at++;
    if (this.at < this.items.length && this.at < EMPTY_MAX) return;
    this.items = this.items.slice(this.at);
    this.at = 0;
  }

  *[Symbol.iterator](): Generator<W> {
    for (let i = this.at; i < this.items.length; i++) yield (this.items[i] as { readonly item: W }).item;
  }
}

export class Queue<W extends Queued> {
  private readonly again = new Map<string, Line<W>>();
  private readonly first = new Map<string, Line<W>>();
  private order = 0;
  private count = 0;

  get length(): number {
    return this.count;
  }

  add(item: W): void {
    const { fn, isRetry } = item.request;
    const lines = isRetry ? this.again : this.first;
    const line = lines.get(fn) ?? new Line<W>();
    lines.set(fn, line);
    line.push(this.order++, item);
    this.count++;
  }

  /** Returns the one that starts next and is of none of these functions. */
  head(heldBack: ReadonlySet<string>): W | undefined {
    return firstOf(this.again, heldBack) ?? firstOf(this.first, heldBack);
  }

  /** Removes the head of its line. */
  remove({ request: { fn, isRetry } }: W): void {
    (isRetry ? this.again : this.first).get(fn)?.shift();
    this.count--;
  }

  some(fits: (item: W) => boolean): boolean {
    for (const item of this) if (fits(item)) return true;
    return false;
  }

  *[Symbol.iterator](): Generator<W> {
    for (const lines of [this.again, this.first]) for (const line of lines.values()) yield* line;
  }

  clear(): void {
    this.again.clear();
    this.first.clear();
    this.count = 0;
  }
}

function firstOf<W>(lines: ReadonlyMap<string, Line<W>>, heldBack: ReadonlySet<string>): W | undefined {
  let best: { readonly order: number; readonly item: W } | undefined;
  for (const [fn, { head }] of lines) if (head && !heldBack.has(fn) && (best === undefined || head.order < best.order)) best = head;
  return best?.item;
}
