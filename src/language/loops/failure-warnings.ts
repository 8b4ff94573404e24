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
  /** The first ones; those that follow each other with the same reason are together. */
  readonly groups: { readonly items: string[]; readonly reason: string }[];
  count: number;
}

export class FailureWarnings {
  private readonly alike = new Map<string, Alike>();

  /** Returns false for an error that is no call's, which the construct warns of by itself. `item` is undefined where nothing is piped. */
  add(error: unknown, item: Value): boolean {
    const call = failedCallOf(error);
    if (!call) return false;
    const kind = `${call.class} ${call.fn}`;
    const known = this.alike.get(kind) ?? { call, places: placesOf(error), groups: [], count: 0 };
    this.alike.set(kind, known);
    known.count++;
    if (known.count > ITEMS_SHOWN) return true;
    const reason = reasonOf(call);
    const last = known.groups.at(-1);
    const group = last?.reason === reason ? last : { items: [], reason };
    if (group !== last) known.groups.push(group);
    const name = item === undefined ? call.item : textOf(item);
    if (name !== '') group.items.push(JSON.stringify(shortened(name, ITEM_UNITS)));
    return true;
  }

  /** `for parallel: 5 of 7 failed: @ask, overloaded: "a", "b" (503), "c" (502), … and 2 more (job.mld:3:42)` */
  report(construct: string, total: number, warn: (message: string) => void): void {
    for (const { call, places, groups, count } of this.alike.values()) {
      const items = groups.map(({ items: names, reason }) => {
        if (names.length === 0) return reason;
        return `${names.join(', ')}${reason === '' ? '' : ` (${reason})`}`;
      });
      const more = count > ITEMS_SHOWN ? `, … and ${count - ITEMS_SHOWN} more` : '';
      warn(`${construct}: ${count} of ${total} failed: @${call.fn}, ${wordsOfClass(call.class)}: ${items.join(', ')}${more}${places}`);
    }
  }
}

/** The class is left out, because the warning begins with it. */
function reasonOf({ class: failureClass, message }: FailedCall): string {
  const words = wordsOfClass(failureClass);
  return message === words ? '' : message.startsWith(`${words}: `) ? message.slice(words.length + 2) : message;
}
