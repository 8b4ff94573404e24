/** Reads the JSON of an offer. A colleague's SQL or another version of mlld may have written it. */
import type { Json, Payload } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { isObject, type JsonObject } from '../../../journal/json-object.js';
import { decodeValue } from '../../operation/encode-result.js';
import { OTHER_KEY, type OfferedCall, type OfferedValue } from '../../runtime/calls/offered-call.js';
import type { RunState } from '../../runtime/frame.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { aboutArguments } from '../ports/offers/sealed-offer.js';
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

/** Declines an offer whose parts have other types than an offer has: one such offer must not end the worker. */
export async function orDecline<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new Declined(UNREADABLE);
    throw error;
  }
}

type OpensPayloads = Pick<JournalStore, 'resolve' | 'knownSecrets'>;

/** Opens a part of an offer. Throws `Declined`. */
export async function openPayload(store: OpensPayloads, payload: Payload, about: string): Promise<Json> {
  if ('keyId' in payload && payload.keyId !== (await store.knownSecrets())?.keyId) throw new Declined(OTHER_KEY);
  const json = await store.resolve(payload, about);
  if (json !== undefined) return json;
  throw new Declined('keyId' in payload ? 'its secrets were sealed for another offer' : 'its values are not in the store');
}

interface ArgumentsFor {
  readonly key: CallKey;
  readonly run: Pick<RunState, 'secrets' | 'settings'>;
}

/** Returns the arguments of the key, and those that guards put in their place. The run learns the secrets among them. Throws `Declined`. */
export async function openArguments(
  store: OpensPayloads,
  offer: OfferedCall,
  { key, run }: ArgumentsFor,
): Promise<{ readonly args: readonly Value[]; readonly passed: readonly Value[] | undefined }> {
  const open = async (part: 'args' | 'passed', payload: Payload): Promise<readonly Value[]> => {
    const encoded = await openPayload(store, payload, aboutArguments(key, part, offer));
    if (!Array.isArray(encoded) || !encoded.every(isOfferedValue)) throw new Declined('its arguments are not a list of values');
    const values = encoded.map((each) => valueOfOffer(each, run.settings.projectRoot));
    for (const value of values) if (isSecret(value)) run.secrets.add(value);
    return values;
  };
  return { args: await open('args', offer.args), passed: offer.passed && (await open('passed', offer.passed)) };
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
  if (!isObject(part) || !['kind', 'name', 'digest'].every((name) => typeof part[name] === 'string')) return false;
  return part['kind'] === 'guard' || part['kind'] === 'hook'; // another one would pass for a part of the function
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
    typeof attempt === 'number' &&
    (offer['isSecret'] ?? true) === true
  );
}
