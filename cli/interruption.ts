/** Ctrl-C and its kin, for whatever runs: the first ends it in order, and says so where that takes a while; a second ends it at once. */
import type { Io, Signal } from './io.js';

/** Most runs have ended by then, and who pressed Ctrl-C sees that. */
const SILENT_MS = 400;

export interface Interruption {
  /** Aborted with the name of the signal. */
  readonly signal: AbortSignal;
  /** Undefined while nothing has come. */
  readonly received: () => Signal | undefined;
  readonly stop: () => void;
}

export function listenForInterruption(io: Pick<Io, 'onSignal' | 'stderr'>): Interruption {
  const controller = new AbortController();
  let received: Signal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stopListening = io.onSignal((signal) => {
    if (received !== undefined) return;
    received = signal;
    controller.abort(signal);
    if (signal !== 'SIGPIPE') {
      timer = setTimeout(() => io.stderr('ending what is in flight; Ctrl-C again ends it at once\n'), SILENT_MS);
    }
  });
  return {
    signal: controller.signal,
    received: () => received,
    stop: () => {
      clearTimeout(timer);
      stopListening();
    },
  };
}
