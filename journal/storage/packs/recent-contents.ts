/** Keeps the blobs that were stored last in memory: the next one mostly continues one of them. */
import type { PackName } from '../layout.js';

const CONTENTS_MAX = 16;
const BYTES_MAX = 32 * 1024 * 1024;

export class RecentContents {
  /** Ordered by their last use. */
  private readonly contents = new Map<string, Buffer>();
  private bytes = 0;

  get(pack: PackName, at: number): Buffer | undefined {
    const key = `${pack} ${at}`;
    const content = this.contents.get(key);
    if (content === undefined) return undefined;
    this.contents.delete(key);
    this.contents.set(key, content);
    return content;
  }

  add(pack: PackName, at: number, content: Buffer): void {
    const key = `${pack} ${at}`;
    this.remove(key);
    this.contents.set(key, content);
    this.bytes += content.length;
    for (const oldest of this.contents.keys()) {
      if (this.contents.size <= CONTENTS_MAX && this.bytes <= BYTES_MAX) return;
      this.remove(oldest);
    }
  }

  forget(): void {
    this.contents.clear();
    this.bytes = 0;
  }

  private remove(key: string): void {
    this.bytes -= this.contents.get(key)?.length ?? 0;
    this.contents.delete(key);
  }
}
