/** Writes diagnostics for `--debug` with pino, loaded only then. The log is not the journal: no behaviour depends on it. */
import type { Logger } from 'pino';
import type { Io } from './io.js';

export type Log = Pick<Logger, 'debug' | 'info' | 'child'>;

/** Lines of JSON on standard error, each written before the call returns. */
export async function openLog(io: Io): Promise<Log> {
  const { pino } = await import('pino');
  const log: Log = pino({ level: 'debug', base: null }, { write: io.stderr });
  return log;
}
