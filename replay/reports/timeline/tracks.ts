/** Lays the spans of a run on tracks, so that spans of one track lie inside or behind each other and never overlap. */
import type { Span, Timeline } from './timeline.js';

export interface Placed {
  readonly span: Span;
  /** From 0 on. */
  readonly track: number;
  /** The number of spans of its track around it. */
  readonly depth: number;
}

/** Each span on the track of what it lies in, if nothing else is open there; else on the first track that is free. */
export function tracksOf(state: Timeline): readonly Placed[] {
  /** Spans in flight on each track, the innermost last. */
  const tracks: Span[][] = [];
  const trackOf = new Map<Span, number>();
  return state.spans.map((span) => {
    const isOver = (open: Span): boolean => open.endedSeq !== undefined && open.endedSeq < span.seq;
    for (const open of tracks) while (open.length > 0 && isOver(open.at(-1) as Span)) open.pop();
    const around = span.parent === undefined ? undefined : trackOf.get(span.parent);
    const isFree = around !== undefined && tracks[around]?.at(-1) === span.parent;
    let track = isFree ? around : tracks.findIndex((open) => open.length === 0);
    if (track < 0) track = tracks.length;
    const depth = (tracks[track] ??= []).push(span) - 1;
    trackOf.set(span, track);
    return { span, track, depth };
  });
}
