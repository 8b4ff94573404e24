/** Puts the failed calls of one loop or group together in a warning for each function and class. calls.md 5.6. */
import { wordsOfClass } from '../../calls/failure.js';
import { failedCallOf } from '../../runtime/calls/call-failure.js';
import { placesOf } from '../../runtime/errors.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import type { FailedCall, Value } from '../../values/value.js';

const ITEMS_SHOWN = 3;
const ITEM_UNITS = 60;

interface Failure {
  /** Its place in the source, from 0. */
  readonly position: number;
  /** Is empty where nothing is piped and the call names no item. */
  readonly item: string;
  readonly reason: string;
  /** The places that its error passed. */
  readonly places: string;
}

interface Alike {
  readonly call: FailedCall;
  /** The first ones in the order of the source, whichever failed first; with `isVerbose` all of them. */
  readonly shown: Failure[];
  count: number;
}

export class FailureWarnings {
  private readonly alike = new Map<string, Alike>();

  /** With `isVerbose` each item is a warning. */
  constructor(private readonly isVerbose: boolean) {}

  /** Returns false for an error that is no call's, which the construct warns of by itself. `item` is undefined where nothing is piped. */
  add(error: unknown, position: number, item: Value): boolean {
    const call = failedCallOf(error);
    if (!call) return false;
    const kind = `${call.class} ${call.fn}`;
    const known = this.alike.get(kind) ?? { call, shown: [], count: 0 };
    this.alike.set(kind, known);
    known.count++;
    const name = item === undefined ? call.item : textOf(item);
    known.shown.push({
      position,
      item: name === '' ? '' : JSON.stringify(shortened(name, ITEM_UNITS)),
      reason: reasonOf(call),
      places: placesOf(error),
    });
    if (!this.isVerbose && known.shown.length > ITEMS_SHOWN) inOrder(known.shown).pop();
    return true;
  }

  /** `for parallel: 5 of 7 failed: @ask, overloaded: "a", "b" (503), "c" (502), … and 2 more (job.mld:3:42)` */
  report(construct: string, total: number, warn: (message: string, cause: string) => void): void {
    for (const { call, shown, count } of this.alike.values()) {
      const what = `@${call.fn}, ${wordsOfClass(call.class)}`;
      const { places } = inOrder(shown)[0] as Failure;
      const cause = `${construct} ${what}${places.split('\n', 1)[0]}`;
      if (this.isVerbose) {
        for (const failure of shown) warn(`${construct}: ${what}: ${withReason(failure.item, failure.reason)}${failure.places}`, cause);
        continue;
      }
      const more = count > ITEMS_SHOWN ? `, … and ${count - ITEMS_SHOWN} more` : '';
      warn(`${construct}: ${count} of ${total} failed: ${what}: ${itemsWithReasons(shown)}${more}${places}`, cause);
    }
  }
}

/** Sorts in place. */
function inOrder(failures: Failure[]): Failure[] {
  return failures.sort((a, b) => a.position - b.position);
}

/** Items that follow each other with the same reason have it once, behind the last of them. */
function itemsWithReasons(failures: readonly Failure[]): string {
  const groups: { items: string[]; reason: string }[] = [];
  for (const { item, reason } of failures) {
    let group = groups.at(-1);
    if (group?.reason !== reason) groups.push((group = { items: [], reason }));
    if (item !== '') group.items.push(item);
  }
  return groups.map(({ items, reason }) => withReason(items.join(', '), reason)).join(', ');
}

function withReason(items: string, reason: string): string {
  if (items === '') return reason;
  return reason === '' ? items : `${items} (${reason})`;
}

/** The class is left out, because the warning begins with it. */
function reasonOf({ class: failureClass, message }: FailedCall): string {
  const words = wordsOfClass(failureClass);
  return message === words ? '' : message.startsWith(`${words}: `) ? message.slice(words.length + 2) : message;
}
