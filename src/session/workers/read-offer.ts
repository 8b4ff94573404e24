/** Reads the JSON of an offer. A colleague's SQL or another version of mlld may have written it. */
import type { Payload } from '../../../journal/event.js';
import type { JournalStore } from '../../../journal/store.js';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { decodeValue } from '../../operation/encode-result.js';
import type { OfferedCall, OfferedValue } from '../../runtime/calls/offered-call.js';
import { flow, NO_LABELS, type Value } from '../../values/value.js';

/** Says why a worker can't execute a call. It begins behind "because". */
export class Declined extends Error {}

export const UNREADABLE = 'its offer is not one that this version of mlld can read';

/** Undefined for what is not a call as `OfferedCalls` describes it. */
export function readOffer(text: string): OfferedCall | undefined {
  let offer: unknown;
  try {
    offer = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isOffer(offer) ? offer : undefined;
}

/** Throws `Declined`. */
export async function valuesOfOffer(store: Pick<JournalStore, 'resolve'>, payload: Payload, root: string): Promise<readonly Value[]> {
  const encoded = await store.resolve(payload);
  if (encoded === undefined) throw new Declined('its arguments are not in the store');
  if (!Array.isArray(encoded) || !encoded.every(isOfferedValue)) throw new Declined('its arguments are not a list of values');
  return encoded.map((each) => valueOfOffer(each, root));
}

/** Returns the value of an argument or captured variable, with its labels. */
export function valueOfOffer(offered: OfferedValue, root: string): Value {
  const { labels = NO_LABELS, sources = NO_LABELS } = offered;
  const value = decodeValue(offered, root);
  return labels.length + sources.length === 0 ? value : flow(value, [], labels, sources);
}

export function isOfferedValue(value: unknown): value is OfferedValue & JsonObject {
  if (!isObject(value)) return false;
  const { labels = [], sources = [], notes } = value;
  return 'json' in value && Array.isArray(notes) && areTexts(labels) && areTexts(sources);
}

function areTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((each) => typeof each === 'string');
}

function isPart(part: unknown): boolean {
  return isObject(part) && ['kind', 'name', 'digest'].every((name) => typeof part[name] === 'string');
}

function isOffer(offer: unknown): offer is OfferedCall & JsonObject {
  if (!isObject(offer)) return false;
  const { sources, labels = [], budgets = [], guards = [], attempt = 1 } = offer;
  return (
    ['fn', 'module', 'main', 'fingerprint', 'mlld'].every((name) => typeof offer[name] === 'string') &&
    [offer['args'], offer['captured'], offer['passed'] ?? {}].every(isObject) &&
    [labels, budgets].every(areTexts) &&
    Array.isArray(guards) &&
    guards.every(isPart) &&
    Array.isArray(sources) &&
    sources.every((each) => isObject(each) && typeof each['path'] === 'string' && typeof each['blob'] === 'string') &&
    typeof attempt === 'number'
  );
}
