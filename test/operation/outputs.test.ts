import { describe, expect, it } from 'vitest';
import type { OutputFile } from '../../journal/event.js';
import type { BlobId } from '../../journal/ids.js';
import { decideOutput, type OutputState } from '../../src/operation/outputs.js';

const WRITTEN = `sha256:${'a'.repeat(64)}` as BlobId;
const OTHER = `sha256:${'b'.repeat(64)}` as BlobId;
const KEPT: OutputFile = { path: 'out/a', blob: WRITTEN, bytes: 1 };

/** The table of the decision record, row by row. */
describe('a declared output file when the result of its call is reused', () => {
  it.each<readonly [string, Partial<OutputState>, string]>([
    ['is restored when it is missing', { onDisk: 'absent' }, 'restore'],
    ['stays when it is what the call wrote', { onDisk: WRITTEN }, 'same'],
    ['is restored when a recorded call wrote what is there', { onDisk: OTHER, isKnown: true }, 'restore'],
    ['has the call executed again when no recorded call wrote what is there', { onDisk: OTHER }, 'again'],
    ['is kept with --keep-files when no recorded call wrote it', { onDisk: OTHER, keepsNewer: true }, 'keep'],
    [
      'is restored although files are to be kept when a recorded call wrote it',
      { onDisk: OTHER, isKnown: true, keepsNewer: true },
      'restore',
    ],
    ['has the call run again when it can’t be read', { onDisk: 'unreadable' }, 'again'],
    ['stays when it can’t be read and files are to be kept', { onDisk: 'unreadable', keepsNewer: true }, 'keep'],
    ['is left alone when the call did not write it', { recorded: { path: 'out/a', reason: 'absent' }, onDisk: OTHER }, 'absent'],
    [
      'has the call run again when it is gone and was not kept',
      { recorded: { path: 'out/a', reason: 'too-large' }, onDisk: 'absent' },
      'again',
    ],
    ['stays when it was not kept', { recorded: { path: 'out/a', reason: 'secret' }, onDisk: OTHER }, 'keep'],
  ])('%s', (_rule, state, decision) => {
    expect(decideOutput({ recorded: KEPT, onDisk: 'absent', isKnown: false, keepsNewer: false, ...state })).toBe(decision);
  });
});
