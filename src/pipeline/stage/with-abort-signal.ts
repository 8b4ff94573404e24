/** The same frame, whose commands and waits end with a signal too. */
import type { Frame } from '../../runtime/frame.js';
import type { World } from '../../world/world.js';

export function withAbortSignal(frame: Frame, signal: AbortSignal): Frame {
  const { world } = frame.run;
  const bound: World = {
    perform(question, request, { signal: inner, deadline, onTimer, onStarted, newFile } = {}) {
      const either = inner ? AbortSignal.any([signal, inner]) : signal;
      return world.perform(question, request, {
        signal: either,
        ...(deadline && { deadline }),
        ...(onTimer && { onTimer }),
        ...(onStarted && { onStarted }),
        ...(newFile && { newFile }),
      });
    },
    close: (reason) => world.close(reason),
  };
  return { ...frame, run: { ...frame.run, world: bound } };
}
