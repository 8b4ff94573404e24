/** Names a value's kind, for `@typeof` and error messages. */
import { Annotated, type Value } from '../value.js';
import { Callable } from './callable.js';

export type Kind = 'undefined' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'executable';

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'undefined':
      return 'undefined';
    default:
      if (value === null) return 'null';
      if (value instanceof Annotated) return kindOf(value.data);
      if (Array.isArray(value)) return 'array';
      return value instanceof Callable ? 'executable' : 'object';
  }
}

/** Adds an article, for the middle of a sentence: `a text`, `an array`. */
export function aKind(value: Value): string {
  switch (kindOf(value)) {
    case 'undefined':
      return 'undefined';
    case 'null':
      return 'null';
    case 'boolean':
      return 'a boolean';
    case 'number':
      return 'a number';
    case 'string':
      return 'a text';
    case 'array':
      return 'an array';
    case 'object':
      return 'an object';
    case 'executable':
      return 'a function';
  }
}
