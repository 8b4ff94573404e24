/** Reads the JSON of an offer. A colleague's SQL or another version of mlld may have written it. */
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import type { OfferedCall } from '../../runtime/calls/offered-call.js';

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

function isOffer(offer: unknown): offer is OfferedCall & JsonObject {
  if (!isObject(offer)) return false;
  const { sources, labels = [], budgets = [], attempt = 1 } = offer;
  return (
    ['fn', 'module', 'main', 'fingerprint', 'mlld'].every((name) => typeof offer[name] === 'string') &&
    [offer['args'], offer['captured']].every(isObject) &&
    [labels, budgets].every((list) => Array.isArray(list) && list.every((each) => typeof each === 'string')) &&
    Array.isArray(sources) &&
    sources.every((each) => isObject(each) && typeof each['path'] === 'string' && typeof each['blob'] === 'string') &&
    typeof attempt === 'number'
  );
}
