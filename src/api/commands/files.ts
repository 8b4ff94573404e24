/** Says in words why a file can't be read or written. */
export { reason } from '../../world/files/files.js';
