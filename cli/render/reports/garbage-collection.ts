/** Prints `mlld journal gc` as text. */
import type { Reason } from '../../../replay/upkeep/retention.js';
import type { BlobsLeft, CollectionReport } from '../../../src/api/commands/gc.js';
import { wrapAll } from '../wrap.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { table } from '../table.js';
import { size } from '../units.js';

const WHY: { readonly [R in Reason]: string } = {
  recent: 'recent',
  running: 'still running',
  unknown: 'has, or is named by, events that this mlld does not know',
  damaged: 'damaged: see mlld journal verify',
  latest: 'the latest run of its script',
  results: 'the next run reuses its results',
  resume: 'a --resume is resolved in it',
  fork: 'a fork was made from it',
  reused: 'a run that is kept reused its results',
  served: 'it serves a run that is kept, or is served by one',
  revokes: 'invalidated results of a run that is kept',
};
export const LEFT: { readonly [L in BlobsLeft]: string } = {
  running: 'Blobs were left alone: a run is in flight.',
  damaged: 'Blobs were left alone: a run that is not readable in full may name any of them (mlld journal verify).',
};

export function renderCollection({ dryRun, removed, kept, blobs, blobsLeft }: CollectionReport, style: Style): string {
  const did = dryRun ? 'Would remove' : 'Removed';
  const lines = [
    `${did} ${counted(removed.length, 'run')} and ${counted(blobs.count, 'blob')} (${size(blobs.bytes)}).`,
    ...(blobsLeft === null ? [] : [LEFT[blobsLeft]]),
    ...removed.map(({ workflow, run }) => `  ${run}  ${oneLine(workflow)}`),
  ];
  if (kept.length > 0) {
    lines.push(`Kept ${counted(kept.length, 'run')} (--needed removes those that are not running, damaged, unknown or the latest):`);
    const columns = [{ title: '  RUN' }, { title: 'SCRIPT' }, { title: 'WHY' }];
    lines.push(
      ...table(
        columns,
        kept.map(({ ref, reason }) => [`  ${ref.run}`, ref.workflow, WHY[reason]]),
        style,
      ),
    );
  }
  return `${wrapAll(lines, style).join('\n')}\n`;
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
