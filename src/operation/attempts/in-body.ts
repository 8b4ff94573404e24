/** Enters the body of a call, where `@mx.call` is the attempt and no longer what hooks and guards see. calls.md 17.2. */
import type { Frame } from '../../runtime/frame.js';

export function inBody(frame: Frame): Frame {
  return frame.context.call ? { ...frame, context: { ...frame.context, call: undefined } } : frame;
}
