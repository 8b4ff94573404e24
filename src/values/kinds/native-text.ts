/**
 * Makes native arrays and objects read as a text where JavaScript asks for one. control.md 19.2.
 *
 * The members that do so are not enumerable: `JSON.stringify`, spreading and loops see the data alone.
 */

/** The methods that the language keeps for old web pages. Their names are likely names of optional fields. */
const LEGACY = new Set(
  'anchor big blink bold fixed fontcolor fontsize italics link small strike sub substr sup trimLeft trimRight'.split(' '),
);

type Method = (...args: unknown[]) => unknown;

const METHODS = Object.getOwnPropertyNames(String.prototype).filter(
  (name) =>
    typeof Reflect.get(String.prototype, name) === 'function' &&
    name !== 'constructor' &&
    name !== 'toString' &&
    name !== 'valueOf' &&
    !LEGACY.has(name),
);

const methods: PropertyDescriptorMap = Object.fromEntries(
  METHODS.map((name) => [name, hidden(methodOfText(Reflect.get(String.prototype, name) as Method))]),
);
const methodsBesideArray: PropertyDescriptorMap = Object.fromEntries(Object.entries(methods).filter(([name]) => !(name in [])));

/** `original`: the text that the data was read from. Without one the text is compact JSON of what the data is when it is asked for. */
export function readableAsText<T extends object>(data: T, original?: string): T {
  const text = (): string => original ?? JSON.stringify(data);
  const added: PropertyDescriptorMap = {
    ...(Array.isArray(data) ? methodsBesideArray : methods),
    toString: hidden(text),
    [Symbol.toPrimitive]: hidden(text),
  };
  for (const name of Reflect.ownKeys(data)) delete added[name as string]; // the data's own members win
  return Object.defineProperties(data, added);
}

/** Makes an object that reads as `text` where JavaScript asks for a text, without the methods of texts. */
export function readAs<T extends object>(object: T, text: string): T {
  const asText = hidden(() => text);
  return Object.defineProperties(object, { toString: asText, [Symbol.toPrimitive]: asText });
}

/** Copies the members that are not data to the copy of an object in another realm. */
export function copyHidden<T extends object>(from: object, to: T): T {
  if (!Object.hasOwn(from, Symbol.toPrimitive)) return to;
  for (const name of Reflect.ownKeys(from)) {
    const descriptor = Object.getOwnPropertyDescriptor(from, name);
    if (descriptor && !descriptor.enumerable && name !== 'length') Object.defineProperty(to, name, descriptor);
  }
  return to;
}

function methodOfText(method: Method): Method {
  return function textMethod(this: unknown, ...args) {
    return Reflect.apply(method, String(this), args);
  };
}

function hidden(value: Method): PropertyDescriptor {
  return { value, enumerable: false, configurable: true, writable: true };
}
