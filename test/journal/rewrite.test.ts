import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { JournalEvent } from '../../journal/event.js';
import { journalFolder, runPath } from '../../journal/storage/layout.js';
import { editedLines, rewriteRun } from '../../journal/upkeep/rewrite.js';
import { callCompleted, runRef, smallRun } from './support/facts.js';
import { failingDisk } from './support/failing-disk.js';
import { temporaryFolder } from './support/folder.js';
import { readRun } from './support/read.js';

const REF = runRef(1);
const BECAUSE = { at: '2026-11-21T09:00:00.000Z', reason: 'asked for' };

async function recorded(facts = smallRun): Promise<string> {
  const root = temporaryFolder();
  const journal = await openFileStore(root).create(REF);
  for (const fact of facts) await journal.append(fact);
  await journal.close();
  return root;
}

const fileOf = (root: string): string => runPath(journalFolder(root), REF);

/** Takes out the results of these events. */
const without =
  (...seqs: readonly number[]) =>
  (event: JournalEvent): JournalEvent | undefined =>
    event.type === 'call.completed' && seqs.includes(event.seq) ? { ...event, result: { redacted: 'asked for' } } : undefined;

describe('a rewritten run', () => {
  it('verifies, says what was taken out when and why, and keeps every other line as it was', async () => {
    const root = await recorded();
    const before = fs.readFileSync(fileOf(root), 'utf8').split('\n');
    expect(await rewriteRun(root, REF, without(3), BECAUSE)).toBe(1);
    const after = fs.readFileSync(fileOf(root), 'utf8').split('\n');
    expect(after.filter((_, n) => n !== 3)).toEqual(before.filter((_, n) => n !== 3));
    const { events, defects } = await readRun(openFileStore(root), REF);
    expect(defects).toEqual([]);
    expect(events[3]).toMatchObject({ seq: 3, result: { redacted: 'asked for' }, redacted: BECAUSE, hash: JSON.parse(before[3]!).hash });
    expect(after[3]).not.toContain('naïve');
  });

  it('can be rewritten again, also the same event and the first one', async () => {
    const root = await recorded();
    await rewriteRun(root, REF, without(3), BECAUSE);
    await rewriteRun(root, REF, without(3, 6), { ...BECAUSE, reason: 'again' });
    await rewriteRun(root, REF, (event) => (event.seq === 0 ? { ...event } : undefined), BECAUSE);
    const { events, defects } = await readRun(openFileStore(root), REF);
    expect(defects).toEqual([]);
    const reasons = events.flatMap(({ seq, redacted }) => (redacted === undefined ? [] : [[seq, redacted.reason]]));
    expect(reasons).toEqual([
      [0, 'asked for'],
      [3, 'again'],
      [6, 'again'],
    ]);
  });

  it('still shows damage: of a rewritten line, of its neighbours, of one that is elsewhere', async () => {
    const root = await recorded();
    await rewriteRun(root, REF, without(3), BECAUSE);
    const whole = fs.readFileSync(fileOf(root));
    const lines = whole.toString('utf8').split('\n');
    const start = Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`);
    const end = start + Buffer.byteLength(lines[3] as string);
    for (let at = start; at < end; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      fs.writeFileSync(fileOf(root), damaged);
      const { defects, events } = await readRun(openFileStore(root), REF);
      expect(defects.length, `byte ${at - start}`).toBeGreaterThan(0);
      expect(events.map(({ seq }) => seq)).not.toContain(3);
    }
    const moved = [...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)];
    fs.writeFileSync(fileOf(root), moved.join('\n'));
    expect((await readRun(openFileStore(root), REF)).defects.length).toBeGreaterThan(0);
  });

  it('keeps damaged lines and a torn tail byte for byte', async () => {
    const root = await recorded();
    const lines = fs.readFileSync(fileOf(root), 'utf8').split('\n');
    lines[2] = (lines[2] as string).replace('review', 'revue!');
    fs.writeFileSync(fileOf(root), `${lines.join('\n')}{"v":1,"se`);
    const before = await readRun(openFileStore(root), REF);
    await rewriteRun(root, REF, without(3), BECAUSE);
    const after = await readRun(openFileStore(root), REF);
    expect(after.defects.map(({ kind, line }) => [kind, line])).toEqual(before.defects.map(({ kind, line }) => [kind, line]));
    expect(after.events.map(({ seq }) => seq)).toEqual(before.events.map(({ seq }) => seq));
    expect(fs.readFileSync(fileOf(root), 'utf8')).toContain('revue!');
  });

  it('reads back whatever was put into it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), fc.array(fc.nat(6)), async (text, seqs) => {
        const root = await recorded([...smallRun.slice(0, 3), callCompleted(0, text), ...smallRun.slice(4)]);
        await rewriteRun(
          root,
          REF,
          (event) => (seqs.includes(event.seq) ? ({ ...event, note: text } as unknown as JournalEvent) : undefined),
          BECAUSE,
        );
        const { events, defects } = await readRun(openFileStore(root), REF);
        expect(defects).toEqual([]);
        expect(events.filter(({ redacted }) => redacted).map(({ seq }) => seq)).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      }),
      { numRuns: 40 },
    );
  });

  it('is the old one or the new one wherever the rewriting is killed', async () => {
    for (let n = 1; ; n++) {
      const root = await recorded();
      const failing = failingDisk(n, 'dead');
      await rewriteRun(root, REF, without(3, 6), BECAUSE, failing.disk).catch(() => undefined);
      const { events, defects } = await readRun(openFileStore(root), REF);
      expect(defects, `call ${n}`).toEqual([]);
      expect([0, 2]).toContain(events.filter(({ redacted }) => redacted !== undefined).length);
      expect((await openFileStore(root).runs(REF.workflow)).map(({ ref }) => ref)).toEqual([REF]);
      await rewriteRun(root, REF, without(3, 6), BECAUSE);
      expect((await readRun(openFileStore(root), REF)).events.filter(({ redacted }) => redacted)).toHaveLength(2);
      if (!failing.struck()) {
        expect(n).toBeGreaterThan(8);
        break;
      }
    }
  });

  it('leaves nothing behind when the disk is full, and says so', async () => {
    const root = await recorded();
    const { disk } = failingDisk(Infinity, 'full');
    const full = {
      ...disk,
      write: () => {
        throw Object.assign(new Error('ENOSPC: made up'), { code: 'ENOSPC' });
      },
    };
    await expect(rewriteRun(root, REF, without(3), BECAUSE, full)).rejects.toMatchObject({ code: 'JOURNAL_DISK_FULL' });
    expect(fs.readdirSync(path.dirname(fileOf(root)))).toEqual([`${REF.run}.ndjson`]);
  });

  it('has a copy without touching it', async () => {
    const root = await recorded();
    const before = fs.readFileSync(fileOf(root));
    const copy = Buffer.from(await editedLines(root, REF, without(3), BECAUSE)).toString();
    expect(copy).toContain('"tombstone"');
    expect(fs.readFileSync(fileOf(root))).toEqual(before);
    expect(Buffer.from(await editedLines(root, REF, () => undefined, BECAUSE))).toEqual(before);
  });
});
