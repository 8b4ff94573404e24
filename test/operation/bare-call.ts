/** Makes a call that can be reused, of a function that exists only in a test. */
import type { Fingerprint } from '../../journal/ids.js';
import type { CallOptions } from '../../src/calls/options.js';
import type { CacheableCall } from '../../src/operation/cacheable-call.js';
import type { RunState } from '../../src/runtime/frame.js';
import type { Value } from '../../src/values/value.js';

/** `args`: what its request says, where that is not the inputs. */
export function bareCall(
  run: RunState,
  op: CacheableCall['op'],
  { fn, inputs, args = inputs, options = {} }: { fn: string; inputs: readonly Value[]; args?: readonly Value[]; options?: CallOptions },
): CacheableCall {
  return {
    run,
    op,
    operation: { kind: 'exe', segment: fn, name: fn, labels: ['llm'], inputs },
    llm: {
      fn,
      request: () => ({ request: { fn, args: args as readonly string[] } }),
      definition: () => ({ fingerprint: fn as Fingerprint, parts: [] }),
      options: () => options,
      isCommand: false,
      labels: [],
      sources: [],
    },
    secret: false,
    suppress: 'nothing',
    loop: undefined,
    restore: async () => undefined,
  };
}
