/** "Did you mean …" lives with the grammar, whose messages need it as well. */
export { closest } from '../../grammar/closest.js';
