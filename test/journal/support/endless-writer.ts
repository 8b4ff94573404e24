/** A process that records into files until it is killed. */
import { openFileStore } from '../../../journal/storage/file-store.js';
import { writeEndlessly } from './write-endlessly.js';

await writeEndlessly(openFileStore(process.argv[2] as string));
