/** Puts runs with their blobs into one file, and takes them out of it: `mlld journal bundle`, `mlld journal unbundle`. */
export { packBundle, storeBundle, unpackBundle } from '../../../journal/upkeep/bundle.js';
export { editedLines } from '../../../journal/upkeep/rewrite.js';
export { blobsOf, runsToBundle } from '../../../replay/upkeep/bundle-closure.js';
export { redactEvent } from '../../../replay/upkeep/redaction.js';
export { redactionRequest } from '../../session/upkeep/redaction-request.js';
