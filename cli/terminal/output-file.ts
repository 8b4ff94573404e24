/** Writes the product of a report command to standard output, or to a file that appears under its name when it is complete. */
import fs from 'node:fs';
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { reason } from '../../src/api/commands/files.js';
import type { Io } from './io.js';

export interface Output {
  write(content: string | Uint8Array): void;
  /** Gives the file its name. */
  finish(): void;
}

/**
 * Without a file, or for `-`, writes to standard output. A file is readable by its owner only, as the journal is. Throws
 * OUTPUT_NOT_WRITABLE.
 */
export function openOutput(io: Io, file: string | undefined): Output {
  if (file === undefined || file === '-') {
    return {
      write: (content) => io.stdout(typeof content === 'string' ? content : Buffer.from(content).toString()),
      finish: () => undefined,
    };
  }
  const target = path.resolve(io.workingDirectory, file);
  const temporary = `${target}.${io.program.pid}.tmp`;
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      fs.rmSync(temporary, { force: true });
      const isFolderMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
      const why = isFolderMissing ? `there is no folder ${path.dirname(file)}` : reason(cause);
      throw new MlldError('OUTPUT_NOT_WRITABLE', `Can't write ${file}: ${why}`, { cause });
    }
  };
  const descriptor = attempt(() => fs.openSync(temporary, 'w', 0o600));
  return {
    write: (content) => attempt(() => fs.writeFileSync(descriptor, content)),
    finish: () =>
      attempt(() => {
        fs.closeSync(descriptor);
        fs.renameSync(temporary, target);
      }),
  };
}
