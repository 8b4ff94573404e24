/** Tells which recorded results no agent of a run is offered: they are simulated, and it is not. workflows-js.md 7. */
import type { EventOf } from '../../../journal/event.js';
import { SIMULATED } from '../../../journal/facts/simulated-backend.js';
import { textOfRef, type CallKey } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { foldRun } from '../../../replay/fold/fold-run.js';
import type { Projection } from '../../../replay/fold/projection.js';
import { isSimulated, usable, type Memo, type UsableEntry } from '../../../replay/memo/memo.js';
import { readPayload } from '../../../replay/reports/call/call-record.js';
import type { AgentOptions } from '../../workflows/run/agent-options.js';
import type { RunOptions } from '../script/run-options.js';

/** Says who answers the agents of a run. */
export interface Answering {
  readonly options: Pick<RunOptions, 'script' | 'project'>;
  readonly settings: { readonly backend?: string | undefined };
}

export async function notOffered(
  store: JournalStore,
  memos: readonly Memo[],
  answering: Answering,
): Promise<(entry: UsableEntry) => boolean> {
  const found = new Set<string>();
  const startsOf = startsIn(store);
  for (const memo of memos) {
    if (memo.simulated.size === 0) continue; // its results are not looked at
    for (const [key, entry] of usable(memo)) {
      if (!isSimulated(memo, entry)) continue;
      const start = (await startsOf(entry)).get(key);
      if (start !== undefined && !simulatesNow(await requestIn(store, start), answering)) found.add(textOfRef(refOf(entry)));
    }
  }
  return (entry) => found.has(textOfRef(refOf(entry)));
}

/** Reads the beginnings of the calls in the run of a result, and each run once. */
export function startsIn(store: JournalStore): (entry: UsableEntry) => Promise<ReadonlyMap<CallKey, EventOf<'call.started'>>> {
  const runs = new Map<string, Promise<ReadonlyMap<CallKey, EventOf<'call.started'>>>>();
  return ({ result: { ref } }) => {
    const events = runs.get(ref.run) ?? foldRun(store, ref, starts);
    runs.set(ref.run, events);
    return events;
  };
}

const starts: Projection<Map<CallKey, EventOf<'call.started'>>> = {
  initial: () => new Map(),
  apply: (state, event) => (event.type === 'call.started' ? state.set(event.key, event) : state),
};

function refOf({ result: { ref, seq } }: UsableEntry): Parameters<typeof textOfRef>[0] {
  return { run: ref.run, seq };
}

/** The options of a recorded agent; undefined where they hold a secret. */
export async function requestIn(
  store: JournalStore,
  { args, key }: Pick<EventOf<'call.started'>, 'args' | 'key'>,
): Promise<AgentOptions | undefined> {
  const read = await readPayload(store, args, key);
  return 'value' in read && Array.isArray(read.value) ? (read.value[1] as AgentOptions) : undefined; // checked before it was recorded
}

/** Undefined where only the configuration may name one. */
export function backendNow(request: Pick<AgentOptions, 'backend'>, { options, settings }: Answering): string | undefined {
  const isTrial = options.script.kind === 'file' && settings.backend === SIMULATED; // as in a run: whatever a script names
  return isTrial ? SIMULATED : (request.backend ?? settings.backend);
}

/** Returns whether an agent would be simulated. One whose options are unknown is taken for one that names no backend. */
function simulatesNow(request: AgentOptions | undefined, answering: Answering): boolean {
  return (backendNow(request ?? {}, answering) ?? answering.options.project.config.agent?.backend) === SIMULATED;
}
