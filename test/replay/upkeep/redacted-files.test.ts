import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../../journal/event.js';
import type { WrittenFile } from '../../../journal/facts/call-event.js';
import type { BlobId } from '../../../journal/ids.js';
import { redactEvent, type RedactionRequest } from '../../../replay/upkeep/redaction.js';

const HIT = `sha256:${'a'.repeat(64)}` as BlobId;
const OTHER = `sha256:${'b'.repeat(64)}` as BlobId;
const FILES: readonly WrittenFile[] = [
  { path: 'out/tide.md', blob: HIT, bytes: 3, mode: 0o644 },
  { path: 'out/fog.md', blob: OTHER, bytes: 4, mode: 0o755 },
  { path: 'out/storm.md', bytes: 5, mode: 0o644, reason: 'too-large' },
];
const completed = {
  v: 1,
  seq: 3,
  ts: '2026-01-01T00:00:00.000Z',
  type: 'call.completed',
  key: `sha256:${'c'.repeat(64)}`,
  op: 'main/draw#0',
  result: { inline: 'done' },
  elapsedMs: 1,
  files: FILES,
} as unknown as EventOf<'call.completed'>;

function filesAfter(request: Partial<RedactionRequest>): readonly WrittenFile[] | undefined {
  const changed = redactEvent(completed, { ops: undefined, match: undefined, reason: 'private', blobs: new Set(), ...request });
  return (changed as EventOf<'call.completed'> | undefined)?.files;
}

describe('the files of a call, redacted', () => {
  it('lose their content where it matches, and stay listed: the call must not be reused without them', () => {
    expect(filesAfter({ match: /xyz/g, blobs: new Set([HIT]) })).toEqual([
      { path: 'out/tide.md', bytes: 3, mode: 0o644, reason: 'redacted' },
      ...FILES.slice(1),
    ]);
  });

  it('are taken out where their path matches, with content and without', () => {
    expect(filesAfter({ match: /tide|storm/g })).toEqual([FILES[1]]);
  });

  it('are all taken out with everything else', () => {
    expect(filesAfter({})).toEqual([]);
  });

  it('stay where nothing matches', () => {
    expect(filesAfter({ match: /xyz/g })).toBeUndefined();
  });
});
