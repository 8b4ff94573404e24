/**
 * The attempts that wait in one lane: those tried again first, then in the order in which they came. One function may be held back by the
 * budget while another one goes on, so that each has its own line. Attempts for which another one in flight waits are apart: each of them
 * may start before all others, because its place is free when no other is.
 */

export interface Queued {
  readonly request: { readonly fn: string; readonly isRetry: boolean };
  /** An attempt in flight waits for it. */
  readonly isInner?: boolean;
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
  private readonly inner = new Set<W>();
  private order = 0;
  private count = 0;

  get length(): number {
    return this.count;
  }

  add(item: W): void {
    this.count++;
    if (item.isInner) return void this.inner.add(item);
    const { fn, isRetry } = item.request;
    const lines = isRetry ? this.again : this.first;
    const line = lines.get(fn) ?? new Line<W>();
    lines.set(fn, line);
    line.push(this.order++, item);
  }

  /** Returns the one that starts next and is of none of these functions. */
  head(heldBack: ReadonlySet<string>): W | undefined {
    return firstOf(this.again, heldBack) ?? firstOf(this.first, heldBack);
  }

  /** Returns those for which others in flight wait, in the order in which they came. */
  innerOnes(): readonly W[] {
    return [...this.inner];
  }

  /** Removes the head of its line, or one of `innerOnes`. */
  remove(item: W): void {
    const { fn, isRetry } = item.request;
    if (!this.inner.delete(item)) (isRetry ? this.again : this.first).get(fn)?.shift();
    this.count--;
  }

  some(fits: (item: W) => boolean): boolean {
    for (const item of this) if (fits(item)) return true;
    return false;
  }

  *[Symbol.iterator](): Generator<W> {
    yield* this.inner;
    for (const lines of [this.again, this.first]) for (const line of lines.values()) yield* line;
  }

  clear(): void {
    this.inner.clear();
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
