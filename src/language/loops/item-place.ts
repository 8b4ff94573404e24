/** Names the item of a loop in the trail of an error. world.md 18. */
import type { For } from '../../../grammar/ast.js';
import { rise } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import type { Entry } from '../../values/entries.js';
import { shortened } from '../../values/shortened.js';
import { textOf } from '../../values/text.js';
import { dataOf, type Value } from '../../values/value.js';

const SHOWN_UNITS = 60;

interface Item {
  readonly entry: Entry;
  /** From 0. */
  readonly position: number;
  readonly total: number;
}

/** Adds to an error that leaves the loop which item it was: `for @ticket, item 137 of 200: "Ticket 0137"`. */
export function riseFromItem(error: unknown, node: For, frame: Frame, { entry, position, total }: Item): unknown {
  return rise(error, frame.module, node.at, `for @${node.name}, item ${position + 1} of ${total}${shownItem(entry.value)}`);
}

/** `: "Ticket 0137"`; empty for a secret. */
export function shownItem(value: Value): string {
  if (isSecret(value)) return '';
  const [firstLine = ''] = textOf(value).trimStart().split('\n', 1);
  const shown = shortened(firstLine, SHOWN_UNITS);
  return shown === '' ? '' : `: ${typeof dataOf(value) === 'string' ? JSON.stringify(shown) : shown}`;
}
