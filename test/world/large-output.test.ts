/** Commands that print more than is held: where it goes, and how much there may be. */
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { BlobId } from '../../journal/ids.js';
import { TEXT_BYTES_MAX } from '../../journal/payloads.js';
import { LOG_BYTES_MAX, OUTPUT_BYTES_MAX } from '../../src/world/process/output.js';
import { openWorld } from './support.js';

vi.setConfig({ testTimeout: 120_000 });

const { world } = openWorld();
afterAll(() => world.close('done'));

interface Sunk {
  bytes: number;
  ended: 'kept' | 'discarded' | undefined;
  /** The most memory that the process took while output arrived. */
  rssMax: number;
}

/** `holds`: it can be read. `failsAt`: from this many bytes on the disk is full. */
function run(
  code: string,
  { holds = true, failsAt = Infinity } = {},
): { sunk: Sunk; answer: ReturnType<typeof world.perform<'command.run'>> } {
  const sunk: Sunk = { bytes: 0, ended: undefined, rssMax: 0 };
  const pieces: Buffer[] = [];
  const newFile = () => ({
    write(piece: Uint8Array) {
      if (sunk.bytes + piece.length > failsAt) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      if (holds) pieces.push(Buffer.from(piece));
      sunk.bytes += piece.length;
      sunk.rssMax = Math.max(sunk.rssMax, process.memoryUsage.rss());
    },
    read: async () => Buffer.concat(pieces),
    async keep() {
      sunk.ended = 'kept';
      return { blob: `sha256:${'0'.repeat(64)}` as BlobId, bytes: sunk.bytes };
    },
    async discard() {
      sunk.ended = 'discarded';
    },
  });
  const answer = world.perform('command.run', { language: 'sh', code, directory: '/tmp', variables: {} }, { newFile });
  return { sunk, answer };
}

const megabytes = (count: number): string => `head -c ${count * 1024 * 1024} /dev/zero`;

describe('the output of a command', () => {
  it('is held while it is small', async () => {
    const { sunk, answer } = run('echo small');
    expect((await answer).stdout).toBe('small\n');
    expect(sunk).toMatchObject({ bytes: 0, ended: undefined });
  });

  it('goes through a file when it is large, and comes back whole, also where characters are cut', async () => {
    const { sunk, answer } = run(`yes '☃ snow' | head -n 4000000; echo ends`);
    const { stdout } = await answer;
    expect(stdout.length).toBe(4_000_000 * 7 + 5);
    expect(stdout.endsWith('☃ snow\nends\n')).toBe(true);
    expect(stdout).not.toContain('�');
    expect(sunk).toMatchObject({ bytes: Buffer.byteLength(stdout), ended: 'discarded' });
  });

  it('is held when the disk takes no more of it', async () => {
    const { sunk, answer } = run(`yes 0123456 | head -c ${40 * 1024 * 1024}`, { failsAt: 20 * 1024 * 1024 });
    expect((await answer).stdout).toBe('0123456\n'.repeat(5 * 1024 * 1024));
    expect(sunk.ended).toBe('discarded');
  });

  it('that no text can hold is kept, and the error names it; memory does not grow with it', async () => {
    const before = process.memoryUsage.rss();
    const { sunk, answer } = run(megabytes(600), { holds: false });
    await expect(answer).rejects.toMatchObject({
      code: 'OUTPUT_EXCEEDS_TEXT',
      message: expect.stringContaining(`${600 * 1024 * 1024} bytes`) as string,
      kept: { bytes: 600 * 1024 * 1024 },
    });
    expect(sunk.ended).toBe('kept');
    expect(sunk.rssMax - before).toBeLessThan(250 * 1024 * 1024);
  });

  it('of a command that failed is not kept when no text can hold it', async () => {
    const { sunk, answer } = run(`${megabytes(600)}; exit 3`, { holds: false });
    await expect(answer).rejects.toMatchObject({ code: 'OUTPUT_TOO_LARGE', message: expect.stringContaining('status 3') as string });
    expect(sunk.ended).toBe('discarded');
  });

  it('above the limit ends the command, with an error that says what to do', async () => {
    const { sunk, answer } = run(`head -c ${OUTPUT_BYTES_MAX + 1} /dev/zero; sleep 600`, { holds: false });
    await expect(answer).rejects.toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      message: 'the command wrote more than 1024 MiB to standard output; nothing of it was kept',
      hint: expect.stringContaining('file') as string,
    });
    expect(sunk.ended).toBe('discarded');
  });

  it('is limited to what a text can be where nothing is recorded', async () => {
    const code = `head -c ${TEXT_BYTES_MAX + 1} /dev/zero; sleep 600`;
    const answer = world.perform('command.run', { language: 'sh', code, directory: '/tmp', variables: {} });
    await expect(answer).rejects.toMatchObject({ code: 'OUTPUT_TOO_LARGE', message: expect.stringContaining('512 MiB') as string });
  });

  it('on standard error has a limit of its own', async () => {
    const { answer } = run(`head -c ${LOG_BYTES_MAX + 1} /dev/zero >&2; sleep 600`);
    await expect(answer).rejects.toMatchObject({
      code: 'OUTPUT_TOO_LARGE',
      message: expect.stringContaining('64 MiB to standard error') as string,
    });
  });
});
