/** Any legal fact, for property tests. */
import fc from 'fast-check';
import { sha256 } from '../../../journal/canonical.js';
import type { Fact, Json, Payload } from '../../../journal/event.js';
import { opPath, type BlobId, type CallKey, type Fingerprint } from '../../../journal/ids.js';

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const digest = fc.nat(50).map((n) => sha256(`${n}`)) as fc.Arbitrary<CallKey & Fingerprint & BlobId>;
const path = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => opPath(`main/${text}`));
const payload: fc.Arbitrary<Payload> = fc.oneof(
  json.map((inline) => ({ inline })),
  fc.record({ blob: digest, bytes: fc.nat() }),
  fc.record({ sealed: fc.base64String(), keyId: fc.string() }),
  fc.record({ digest: fc.string() }),
  fc.record({ redacted: fc.string() }),
);
const text = fc.string({ unit: 'binary', maxLength: 30 });

/** Facts of several types, also of types and with members that this version doesn't know. */
export const anyFact: fc.Arbitrary<Fact> = fc.oneof(
  fc.record({ type: fc.constant('call.completed' as const), key: digest, op: path, result: payload, elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant('call.failed' as const), key: digest, op: path, message: text, elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant('call.withdrawn' as const), key: digest, op: path }),
  fc.record({ type: fc.constant('op.started' as const), op: path, kind: text }, { requiredKeys: ['type', 'op', 'kind'] }),
  fc.record({ type: fc.constant('checkpoint.reached' as const), name: text }),
  fc.record({ type: fc.constant('memo.invalidated' as const), selector: text, keys: fc.array(digest) }),
  fc
    .dictionary(
      text.filter((name) => !['v', 'seq', 'type', 'ts', 'hash', 'key', 'op', '__proto__'].includes(name)),
      json,
    )
    .map((members) => ({ ...members, type: 'tide.turned' }) as unknown as Fact),
);
