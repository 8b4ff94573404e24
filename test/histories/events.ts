/** Translates a journal into the events that the model steps through. */
import type { Fact, JournalEvent } from '../../journal/event.js';
import type { OpPath, RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';

/** Functions that only put values together. */
const AUXILIARY = new Set(['joined', 'again']);

export function isRelevant(fact: Fact): boolean {
  switch (fact.type) {
    case 'op.started':
      if (fact.kind === 'for:iteration') return true;
      return fact.kind === 'exe' && !fact.labels?.includes('llm') && !AUXILIARY.has(fact.name ?? '');
    case 'call.started':
    case 'call.completed':
    case 'call.reused':
    case 'call.failed':
    case 'checkpoint.reached':
      return true;
    default:
      return false;
  }
}

/** `asked` holds the arguments of a call by its key: a reused call names only the key. */
export async function seenEvents(store: JournalStore, ref: RunRef, asked: Map<string, string>): Promise<string[]> {
  const calls = new Map<string, string>(); // by path
  const seen: string[] = [];
  await store.scan(ref, (event) => {
    if (isRelevant(event)) seen.push(inWords(event, asked, calls));
  });
  return seen;
}

function inWords(event: JournalEvent, asked: Map<string, string>, calls: Map<string, string>): string {
  switch (event.type) {
    case 'op.started':
      return event.kind === 'exe' ? `call @${event.name}${itemsIn(event.op)}` : `item ${event.item}${itemsIn(event.op)}`;
    case 'call.started': {
      if ('inline' in event.args) asked.set(event.key, JSON.stringify(event.args.inline).slice(1, -1));
      const call = `${event.key.slice(0, 15)} @${event.fn}(${asked.get(event.key)})${itemsIn(event.op)}`;
      calls.set(event.op, call);
      return `started ${call}`;
    }
    case 'call.completed':
      return `completed ${calls.get(event.op)} ${'inline' in event.result ? String(event.result.inline) : '?'}`;
    case 'call.failed':
      return `failed ${calls.get(event.op)}`;
    case 'call.reused':
      return `served ${event.key.slice(0, 15)} @${event.fn}(${asked.get(event.key)})${itemsIn(event.op)}`;
    case 'checkpoint.reached':
      return `checkpoint ${event.name}`;
    default:
      return event.type;
  }
}

/** Lists the items of loops by number: `[2][0]`. */
function itemsIn(op: OpPath): string {
  return [...op.matchAll(/\[\d+\]/g)].join('');
}
