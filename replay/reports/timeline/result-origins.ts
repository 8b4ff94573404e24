/** Finds where reused results were recorded: each run that they come from is read once, and only places are kept. */
import type { EventRef, OpPath, RunId, RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { JournalStore, Position } from '../../../journal/store.js';
import type { Span } from './timeline.js';

export interface Origin {
  readonly ref: RunRef;
  /** The path of the call in that run. */
  readonly op: OpPath;
  readonly startedAt: Position | undefined;
  readonly endedAt: Position;
}

export type From = EventRef & { readonly workflow?: Workflow };

/** Returns undefined for an event that is gone. */
export type OriginOf = (from: From) => Origin | undefined;

export async function resultOrigins(store: JournalStore, { workflow }: RunRef, spans: readonly Span[]): Promise<OriginOf> {
  const wanted = new Map<RunId, { readonly ref: RunRef; readonly seqs: Set<Seq> }>();
  for (const { calls } of spans) {
    for (const { from } of calls) {
      if (from === undefined) continue;
      const known = wanted.get(from.run);
      if (known) known.seqs.add(from.seq);
      else wanted.set(from.run, { ref: { workflow: from.workflow ?? workflow, run: from.run }, seqs: new Set([from.seq]) });
    }
  }
  const found = new Map<string, Origin>();
  for (const { ref, seqs } of wanted.values()) {
    // A run that was deleted since has no events.
    if ((await store.find(ref.run)) === undefined) continue;
    await readOrigins(store, ref, seqs, found);
  }
  return (from) => found.get(nameOf(from));
}

async function readOrigins(store: JournalStore, ref: RunRef, seqs: ReadonlySet<Seq>, found: Map<string, Origin>): Promise<void> {
  const started = new Map<OpPath, Position>();
  await store.scan(
    ref,
    (event, position) => {
      if (event.type === 'call.started') started.set(event.op, position);
      if (event.type !== 'call.completed') return;
      const { op, seq } = event;
      if (seqs.has(seq)) found.set(nameOf({ run: ref.run, seq }), { ref, op, startedAt: started.get(op), endedAt: position });
      started.delete(op);
    },
    // Damage of another run is reported where that run is read.
    { onDefect: () => undefined },
  );
}

function nameOf({ run, seq }: EventRef): string {
  return `${run} ${seq}`;
}
