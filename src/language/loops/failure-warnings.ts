/** Puts the failed calls of one loop or group together in a warning for each function and class. calls.md 5.6. */
import { wordsOfClass } from '../../calls/failure.js';
import { failedCallOf } from '../../runtime/calls/call-failure.js';
import { placesOf } from '../../runtime/errors.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { FailedCall, Value } from '../../values/value.js';

const ITEMS_SHOWN = 3;
const ITEM_UNITS = 60;

interface Alike {
  readonly call: FailedCall;
  /** The places that the error of the first one passed. */
  readonly places: string;
  readonly items: string[];
  count: number;
}

export class FailureWarnings {
  private readonly alike = new Map<string, Alike>();

  /** Returns false for an error that is no call's, which the construct warns of by itself. `item` is undefined where nothing is piped. */
  add(error: unknown, item: Value): boolean {
    const call = failedCallOf(error);
    if (!call) return false;
    const kind = `${call.class} ${call.fn}`;
    const known = this.alike.get(kind) ?? { call, places: placesOf(error), items: [], count: 0 };
    this.alike.set(kind, known);
    known.count++;
    if (known.count <= ITEMS_SHOWN) known.items.push(itemWithReason(item === undefined ? call.item : textOf(item), call));
    return true;
  }

  /** `for parallel: 5 of 7 failed: @ask, overloaded: "a" (503), "b" (503), "c" (503), … and 2 more (job.mld:3:42)` */
  report(construct: string, total: number, warn: (message: string) => void): void {
    for (const { call, places, items, count } of this.alike.values()) {
      const more = count > ITEMS_SHOWN ? `, … and ${count - ITEMS_SHOWN} more` : '';
      warn(`${construct}: ${count} of ${total} failed: @${call.fn}, ${wordsOfClass(call.class)}: ${items.join(', ')}${more}${places}`);
    }
  }
}

/** The class is left out of the reason, because the warning begins with it. */
function itemWithReason(item: string, { class: failureClass, message }: FailedCall): string {
  const words = wordsOfClass(failureClass);
  const reason = message === words ? '' : message.startsWith(`${words}: `) ? message.slice(words.length + 2) : message;
  if (item === '') return reason;
  return `${JSON.stringify(shortened(item, ITEM_UNITS))}${reason === '' ? '' : ` (${reason})`}`;
}
