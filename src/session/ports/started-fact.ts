/** Makes the first fact of a run: its inputs, its flags, and the program and host that run it. */
import type { FactOf } from '../../../journal/event.js';
import type { RecordedInputs } from '../../../journal/facts/run-event.js';
import type { RunId, RunRef } from '../../../journal/ids.js';
import { withoutUndefined } from '../../values/without-undefined.js';
import { VERSION } from '../../version.js';
import { hostFacts } from '../../world/host.js';
import type { RunOptions } from '../script/run-options.js';
import type { Fork } from './fork-source.js';
import { givenTraceparent } from './run-trace.js';

type RunStarted = FactOf<'run.started'>;

interface StartedFacts {
  readonly ref: RunRef;
  readonly header: RunStarted['header'] | undefined;
  readonly forks: readonly Fork[];
  readonly inputs: RecordedInputs | undefined;
  /** Killed runs of which no process is left. */
  readonly settled: readonly RunId[];
}

export function startedFact(options: RunOptions, { ref, header, forks, inputs, settled }: StartedFacts): RunStarted {
  const { record, checkpoint, fresh, resume, changed, keepFiles } = options.cache;
  const host = hostFacts();
  const forkSources = forks.map(({ workflow, run, seq }) =>
    withoutUndefined<NonNullable<RunStarted['forks']>[number]>({ workflow, run, seq }),
  );
  return withoutUndefined<RunStarted>({
    type: 'run.started',
    workflow: ref.workflow,
    name: options.name,
    argv: options.argv,
    payload: options.payload,
    flags: withoutUndefined<RunStarted['flags']>({ record, checkpoint, fresh, resume, changed, keepFiles }),
    header,
    forks: forkSources.length > 0 ? forkSources : undefined,
    given: inputs,
    settled: settled.length > 0 ? settled : undefined,
    versions: { mlld: VERSION, node: host.node },
    host: host.name,
    user: host.user,
    pid: host.pid,
    traceparent: givenTraceparent(options.environment),
    ...options.pipeline?.facts(ref),
  });
}
