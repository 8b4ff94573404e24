/** The result cache of runs that record nothing. */
import { digestingSecrets, KEY_BYTES, type Secrets } from '../../journal/secrets/sealing.js';
import { InFlightCalls } from '../runtime/calls/in-flight-calls.js';
import type { ResultCache } from '../runtime/calls/result-cache.js';
import { randomKey } from '../world/host.js';
import { NO_OUTPUT_FILES } from './ports/files/output-files.js';

export function NO_RESULT_CACHE(): ResultCache {
  let secrets: Secrets | undefined;
  return {
    policy: () => ({ records: false, reuses: false }),
    inFlight: new InFlightCalls(),
    recordedDefinitions: new Set(),
    files: NO_OUTPUT_FILES,
    lookup: async () => undefined,
    decline: () => {},
    recall: (_recorded, _encoded, _fn, fresh) => fresh,
    payload: async (value) => ({ inline: value }),
    preview: () => undefined,
    secretPayload: async () => ({ redacted: 'nothing is recorded' }),
    secretKeys: async () => (secrets ??= digestingSecrets(randomKey(KEY_BYTES))).callKey,
    digest: async () => '',
    hold: () => {},
    keepText: async () => undefined,
    enterScope: () => {},
    warnStaleHit: () => {},
  };
}
