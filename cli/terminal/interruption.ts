/**
 * Handles Ctrl-C and other signals while something runs: the first ends it in order, with a message where that takes a while; a second
 * ends it at once. An error of the script's code that nothing awaits ends it in the same way.
 */
import { messageOf, MlldError } from '../../src/errors.js';
import type { Io, Signal } from './io.js';

/** Most runs have ended by then, so no message is needed. */
const SILENT_MS = 400;

export interface Interruption {
  /** Aborted with the name of the signal, or with the error that ends the run. */
  readonly signal: AbortSignal;
  /** Returns undefined before the first signal. */
  readonly received: () => Signal | undefined;
  readonly stop: () => void;
}

export function listenForInterruption(io: Pick<Io, 'onSignal' | 'stderr'>): Interruption {
  const controller = new AbortController();
  let received: Signal | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stopListening = io.onSignal((signal, stray) => {
    if (controller.signal.aborted) return;
    if (stray) return controller.abort(unawaited(stray[0]));
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

function unawaited(error: unknown): MlldError {
  const message = messageOf(error);
  return new MlldError('CODE_UNAWAITED', `Code of the script failed where nothing waited for it: ${message}`, {
    cause: error,
    hint: 'await every promise in `js` and `node`, and catch what a timer or an event throws',
  });
}

/** It is no error that a user stops a run. */
export function stoppedBy(signal: Signal): string {
  return `Stopped by ${signal === 'SIGINT' ? 'Ctrl-C' : signal}.`;
}
