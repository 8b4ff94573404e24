/** A call as workers may be offered it, with guards of its own. OFFERABLE-1 and OFFERABLE-2. */
import { describe, expect, it } from 'vitest';
import type { Fingerprint } from '../../journal/ids.js';
import type { CacheableCall } from '../../src/operation/cacheable-call.js';
import { offerableCall } from '../../src/operation/offerable-call.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import type { DescribedCall } from '../../src/runtime/calls/offered-call.js';
import { createReach } from '../../src/runtime/definitions/reachable-operations.js';
import type { Value } from '../../src/values/value.js';
import { bareRun, WITHOUT_INTERCEPTORS } from '../support/bare-run.js';

const REQUEST = { fn: 'ask', args: ['tide'] };
const KEY = callKey(REQUEST);
const IDENTITY = {
  key: KEY,
  plainKey: KEY,
  hasSecret: false,
  definition: { fingerprint: 'f1' as Fingerprint, parts: [] },
  request: REQUEST,
};
const OFFER = {
  module: 'a.mld',
  main: 'a.mld',
  captured: [],
  lane: '',
  readsFiles: false,
  hasSecret: false,
  inside: { reach: createReach(), labels: [] },
};

interface Guarded {
  readonly guardsBefore?: CacheableCall['guardsBefore'];
  /** Says why guards keep it in the run. */
  readonly needed?: string;
}

function offerable({ guardsBefore, needed }: Guarded) {
  const interceptors = { ...WITHOUT_INTERCEPTORS, active: true, neededBehind: () => needed };
  const { run, frame } = bareRun({ interceptors });
  const call: CacheableCall = {
    run,
    op: frame.op.child('ask'),
    operation: { kind: 'exe', segment: 'ask', name: 'ask', labels: ['llm'], inputs: ['tide'] },
    llm: {
      request: () => ({ request: REQUEST }),
      definition: () => IDENTITY.definition,
      fn: 'ask',
      options: () => ({}),
      describe: async (inputs): Promise<DescribedCall> => ({ ...OFFER, args: inputs.map((json) => ({ json: json as string, notes: [] })) }),
      isCommand: false,
      labels: [],
      sources: [],
    },
    secret: false,
    suppress: 'nothing',
    loop: undefined,
    guardsBefore,
    restore: async () => undefined,
  };
  return { call, offer: offerableCall(call, IDENTITY) };
}

describe('a call that guards hold for', () => {
  it('is not offered where guards are needed behind the start of the call', async () => {
    const { offer } = offerable({ needed: 'an after-guard holds for it' });
    expect(await offer.describe?.()).toEqual({ because: 'an after-guard holds for it' });
  });

  it('is offered with the arguments of its key, and with those that the guards put in their place', async () => {
    const { call, offer } = offerable({ guardsBefore: async () => ['ebb'] });
    expect(offer.key).toBe(KEY);
    expect(await offer.describe?.()).toMatchObject({ args: [{ json: 'tide' }] });
    expect(await offer.passGuards?.()).toMatchObject({ args: [{ json: 'ebb' }] });
    const same: readonly Value[] = call.operation.inputs;
    expect(await offerable({ guardsBefore: async () => same }).offer.passGuards?.()).toMatchObject({ args: [{ json: 'tide' }] });
  });

  it('is not offered, and nothing is said, where the guards deny it: it is denied where the run executes it', async () => {
    const { offer } = offerable({
      guardsBefore: async () => {
        throw new Error('no');
      },
    });
    expect(await offer.passGuards?.()).toEqual({ because: undefined });
  });

  it('has no guards to pass where none holds before it', () => {
    expect(offerable({}).offer.passGuards).toBeUndefined();
  });
});
