/** Records that an attempt of a call begins, which its body waits for (CACHE-1). */
import type { FactOf, Payload } from '../../../journal/event.js';
import type { Seq } from '../../../journal/ids.js';
import type { Recorded } from '../../../journal/store.js';
import type { AttemptView } from '../../calls/attempt.js';
import type { Started } from '../../calls/dispatch/ports.js';
import type { CallProgress } from '../attempts/call-progress.js';
import { sitesOf, type CacheableCall, type CallIdentity } from '../cacheable-call.js';
import { recordedArguments } from './recorded-arguments.js';

/** Says why a recorded result was not reused. */
export type PassedOver = Pick<FactOf<'call.started'>, 'outdated' | 'unfit' | 'gone' | 'refused'>;

/**
 * Names the result that the guards are to judge, and what was done about its files. `fingerprint`: the definition that it was made with,
 * where that is another than now.
 */
export type Judging = Pick<FactOf<'call.started'>, 'received' | 'outputs' | 'files'> & Partial<Pick<FactOf<'call.started'>, 'fingerprint'>>;

interface Begin {
  readonly progress: Pick<CallProgress, 'args'>;
  readonly view: AttemptView;
  readonly started: Started | undefined;
  readonly mayBegin: (() => boolean) | undefined;
}

/** Returns the number of the event; undefined where nothing was recorded. */
export function recordStart(
  call: CacheableCall,
  identity: CallIdentity,
  passedOver: PassedOver & Judging,
  begin: Begin,
): Promise<Seq | undefined> {
  const storing = recordedArguments(call, identity);
  if (storing instanceof Promise) return storing.then((args) => appendStart(call, identity, args, passedOver, begin));
  return appendStart(call, identity, storing, passedOver, begin);
}

function appendStart(
  { run: { cache, recorder, secrets }, op, operation }: CacheableCall,
  { key, hasSecret, definition, request }: CallIdentity,
  args: Payload,
  passedOver: PassedOver & Judging,
  { progress, view, started, mayBegin }: Begin,
): Promise<Seq | undefined> {
  progress.args = args;
  const preview = hasSecret || 'inline' in args ? undefined : cache.preview(request.args);
  if (mayBegin?.() === false) return Promise.resolve(undefined); // its lane was stopped while the arguments were stored
  const recording = recorder.append({
    type: 'call.started',
    key,
    op: op.path,
    fn: request.fn,
    args,
    fingerprint: definition.fingerprint,
    ...sitesOf(operation),
    ...(preview !== undefined && { preview }),
    ...(request.attempt !== undefined && { attempt: request.attempt }),
    ...(view.try > 1 && { try: view.try }),
    ...(started && { lane: secrets.redact(started.lane) }),
    ...(started?.reserved && { reserved: started.reserved }),
    ...(started?.waitedMs !== undefined && { waitedMs: started.waitedMs }),
    ...passedOver,
  });
  return recording.then(seqIn);
}

function seqIn(recorded: Recorded | undefined): Seq | undefined {
  return recorded?.seq;
}
