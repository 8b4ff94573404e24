/** Tells the compiler which data JSON can hold, also where an interface declares it, which has no index signature. workflows-js.md 15. */
import type { Json } from '../../../journal/event.js';

/**
 * Is T where JSON can hold it. A member that is a function, an instance of a class, a symbol, a bigint or unknown becomes NotJson, which
 * nothing fits. A method is the mark of an instance, which is named as a whole then, and not by each of its members.
 */
export type JsonLike<T> = T extends Json
  ? T
  : T extends readonly unknown[]
    ? { readonly [I in keyof T]: JsonLike<T[I]> }
    : T extends (...args: never) => unknown
      ? NotJson
      : T extends object
        ? Extract<T[keyof T], (...args: never) => unknown> extends never
          ? { readonly [K in keyof T]: K extends symbol ? NotJson : JsonLikeOrVoid<T[K]> }
          : NotJson
        : NotJson;

/** Is the type of what a function returns that may return nothing, and of a member that may be missing. */
export type JsonLikeOrVoid<T> = T extends void ? T : JsonLike<T>;

/** The type of what JSON can't hold. */
export interface NotJson {
  readonly 'is no JSON': never;
}
