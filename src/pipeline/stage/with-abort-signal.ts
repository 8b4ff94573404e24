import type { Frame } from '../../runtime/frame.js';
import type { World } from '../../world/world.js';

/** Returns the same frame with a world whose commands and waits also end when `signal` is aborted. */
export function withAbortSignal(frame: Frame, signal: AbortSignal): Frame {
  const { world } = frame.run;
  const bound: World = {
    perform: (effect, request, options = {}) =>
      world.perform(effect, request, { ...options, signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal }),
    close: (reason) => world.close(reason),
  };
  return { ...frame, run: { ...frame.run, world: bound } };
}
