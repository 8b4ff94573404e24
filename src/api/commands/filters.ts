/** Holds the names that the filters of `mlld journal show` and `mlld journal audit` may match. */
export { DURABILITY } from '../../../journal/durability.js';
export { isInside } from '../../../replay/fold/op-path.js';
