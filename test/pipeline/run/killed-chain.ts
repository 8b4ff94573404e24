/**
 * A pipeline with a loop, retries, nested branches, a thread, a person and a goal gate, run as real processes that are killed at random
 * moments and resumed until they are through. What is promised is checked after every kill and at the end; a broken promise is thrown.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openFileStore } from '../../../journal/storage/file-store.js';
import type { JournalEvent } from '../../../journal/event.js';
import type { OpPath, Workflow } from '../../../journal/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { checkpointOf, type Checkpoint } from '../../../replay/pipeline/checkpoint-view.js';
import { pipelineState } from '../../../replay/pipeline/pipeline-state.js';
import { newestChain, type Chain } from '../../../src/session/pipeline/history/chain.js';

const WORKFLOW = 'drill.dot' as Workflow;
const ATTEMPTS_MAX = 60;

/** The stages take long enough to be killed in; each writes a line before it works, which survives a crash. */
const FILES = {
  'mlld-config.json': '{}',
  'stage.sh': `#!/bin/sh
# stage.sh KIND: leaves a line with the place of the stage, works a little, and answers from that place alone.
lap=$(sed -n 's/.*"lap": "\\([0-9]*\\)".*/\\1/p' "$MLLD_CONTEXT_FILE")
place=\${MLLD_STAGE_DIR#"$MLLD_RUN_DIR/"}
echo "$lap $place $MLLD_VISIT $MLLD_ATTEMPT" >> "$MLLD_RUN_DIR/../begun.txt"
sleep 0.03
report() { printf '{"outcome": "%s", "context_updates": {%s}}' "$1" "$2" > "$MLLD_STATUS_FILE"; }
case $1 in
  model) cat > /dev/null; echo "$MLLD_NODE_ID says $lap.$MLLD_VISIT.$MLLD_ATTEMPT"
         [ "$MLLD_NODE_ID" != plan ] || report success "\\"lap\\": \\"$MLLD_VISIT\\"" ;;
  shaky) [ "$MLLD_ATTEMPT" -gt 2 ] || { echo "not yet" >&2; exit 3; } ; echo "steady after $MLLD_ATTEMPT" ;;
  gate) [ "$lap" -gt 0 ] || report fail "\\"found\\": \\"a leak\\"" ;;
  *) echo "$1 in lap $lap" ;;
esac
`,
  'drill.dot': `digraph drill {
    graph [goal="A dry hull", backend="cmd:sh stage.sh model", default_retry_policy=none]
    start [shape=Mdiamond]
    exit  [shape=Msquare]
    plan  [prompt="Plan for: $goal", fidelity=full, thread_id=talk]
    fan   [shape=component, max_parallel=3]
    sand  [shape=parallelogram, tool_command="sh stage.sh sand"]
    tar   [shape=parallelogram, tool_command="sh stage.sh shaky", max_retries=3, retry_delay="10ms", retry_jitter=false]
    inner [shape=component, max_parallel=1]
    bow   [prompt="Look at the bow"]
    stern [shape=parallelogram, tool_command="sh stage.sh stern"]
    both  [shape=tripleoctagon]
    note  [prompt="Note it", fidelity=full, thread_id=talk]
    meet  [shape=tripleoctagon]
    ask   [shape=hexagon, label="Float it?"]
    float [shape=parallelogram, tool_command="sh stage.sh shaky", max_retries=2, retry_delay="10ms", retry_jitter=false]
    check [shape=parallelogram, tool_command="sh stage.sh gate", goal_gate=true, retry_target=plan]
    start -> plan -> fan
    fan -> sand -> tar -> meet
    fan -> inner
    inner -> bow -> both
    inner -> stern -> both
    both -> note -> meet
    meet -> ask
    ask -> float [label="[F] Float"]
    ask -> exit [label="[L] Leave"]
    float -> check -> exit
    check -> exit [condition="outcome=fail"]
}
`,
};

export interface Kills {
  /** The built command, as words. */
  readonly command: readonly string[];
  readonly seed: number;
  readonly kills: number;
  readonly onChain?: (told: Killed) => void;
}

export interface Killed {
  chains: number;
  kills: number;
  /** Kills behind which a node was begun and not finished. */
  midNode: number;
  /** Kills while some branch was in flight. */
  midBranch: number;
  /** Kills before which no run was there yet. */
  tooEarly: number;
  /** Stages that had begun when they were killed, and did so again. */
  repeated: number;
  /** Events that checkpoint.json was behind the journal after a kill, at most. */
  behind: number;
}

/** Rejects with the first promise that is broken, the seed and what was killed when. */
export async function killChains({ command, seed, kills, onChain }: Kills): Promise<Killed> {
  const root = mkdtempSync(path.join(tmpdir(), 'mlld-killed-'));
  const random = seeded(seed);
  const told: Killed = { chains: 0, kills: 0, midNode: 0, midBranch: 0, tooEarly: 0, repeated: 0, behind: 0 };
  try {
    const undisturbed = await playUndisturbed(command, path.join(root, 'undisturbed'));
    while (told.kills < kills) {
      const folder = path.join(root, String(told.chains));
      await playChain({ command, folder, random, undisturbed, kills }, told);
      told.chains += 1;
      onChain?.(told);
      rmSync(folder, { recursive: true, force: true });
    }
    return told;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Undisturbed {
  readonly end: object;
  readonly begun: readonly string[];
  readonly durationMs: number;
}

async function playUndisturbed(command: readonly string[], folder: string): Promise<Undisturbed> {
  makeProject(folder);
  const startedMs = performance.now();
  const status = await mlld(command, folder, []);
  if (status !== 0) throw new Error(`the undisturbed run ended with ${status}`);
  const chain = await chainIn(folder);
  if (!chain) throw new Error('the undisturbed run left no journal');
  return { end: endOf(checkpointOf(chain.state)), begun: begunIn(folder), durationMs: performance.now() - startedMs };
}

interface Playing {
  readonly command: readonly string[];
  readonly folder: string;
  readonly random: () => number;
  readonly undisturbed: Undisturbed;
  readonly kills: number;
}

async function playChain({ command, folder, random, undisturbed, kills }: Playing, told: Killed): Promise<void> {
  makeProject(folder);
  const moments: number[] = [];
  const must = (holds: boolean, what: string, detail?: unknown): void => {
    if (!holds)
      throw new Error(
        `chain ${told.chains}, killed after ${moments.join(', ')} ms: ${what} ${detail === undefined ? '' : JSON.stringify(detail)}`,
      );
  };
  let finished: readonly FinishedNode[] = [];
  let begun: readonly string[] = [];
  for (let attempt = 0; ; attempt++) {
    must(attempt < ATTEMPTS_MAX, 'it never gets through');
    const before = await chainIn(folder);
    const killAfterMs = told.kills < kills && random() < 0.7 ? Math.round(random() * undisturbed.durationMs) : undefined;
    const status = await mlld(command, folder, before ? ['--resume'] : [], killAfterMs);
    must(status === 0 || (status === null && killAfterMs !== undefined), `it ended with ${status}`);
    const chain = await chainIn(folder);
    const again = new Set(begunIn(folder).slice(begun.length));
    const repeatedInVain = finished.filter(({ lines }) => lines.some((line) => again.has(line)));
    must(repeatedInVain.length === 0, 'a finished node ran again', repeatedInVain);
    if (status === 0) {
      const differing = chain ? differences(endOf(checkpointOf(chain.state)), undisturbed.end) : ['no journal'];
      must(differing.length === 0, 'it ended otherwise', differing);
      await checkCheckpointFile(folder, chain, must);
      const all = begunIn(folder);
      must(isDeepStrictEqual(new Set(all), new Set(undisturbed.begun)), 'other stages ran', all);
      told.repeated += all.length - undisturbed.begun.length;
      await checkEvents(folder, must);
      return;
    }
    moments.push(killAfterMs ?? 0);
    told.kills += 1;
    if (!chain) told.tooEarly += 1;
    if (chain?.state.main.running) told.midNode += 1;
    if (chain && chain.state.main.branches.size > 0) told.midBranch += 1;
    told.behind = Math.max(told.behind, await checkCheckpointFile(folder, chain, must));
    begun = begunIn(folder);
    finished = chain ? finishedIn(await eventsOf(folder)) : [];
    const unseen = finished.filter(({ lines }) => lines.some((line) => !begun.includes(line)));
    must(unseen.length === 0, 'a stage finished and never began', unseen);
  }
}

type Must = (holds: boolean, what: string, detail?: unknown) => void;

/**
 * Selects what a resumed run has in common with an undisturbed one. It may have more files: its first model stage gets the history anew.
 */
function endOf({ current_node, context, outcome, node_history, goal_gate_status, node_retries, artifacts }: Checkpoint): object {
  return structuredClone({ current_node, context, outcome, node_history, goal_gate_status, node_retries, artifacts });
}

/** Members that are not equal, with both values. */
function differences(actual: object, expected: object): readonly unknown[] {
  const wanted = new Map<string, unknown>(Object.entries(expected));
  return Object.entries(actual).flatMap(([key, value]) =>
    isDeepStrictEqual(value, wanted.get(key)) ? [] : [{ key, actual: value as unknown, expected: wanted.get(key) }],
  );
}

/** Whole, and what the fold says at the place that it names; how many events the journal is ahead of it. */
async function checkCheckpointFile(folder: string, chain: Chain | undefined, must: Must): Promise<number> {
  const file = path.join(folder, 'run', 'checkpoint.json');
  if (!existsSync(file)) return 0;
  const text = readFileSync(file, 'utf8');
  let written: Checkpoint | undefined;
  try {
    written = JSON.parse(text) as Checkpoint;
  } catch {
    must(false, 'checkpoint.json is not whole', text.slice(-80));
  }
  must(chain !== undefined && written !== undefined, 'there is a checkpoint.json, and no run');
  if (!chain || !written) return 0;
  const { seq, journal_run: run } = written;
  let state = pipelineState.initial();
  let behind = 0;
  const store = await storeIn(folder);
  for (const { ref, until } of chain.segments) {
    await store.scan(ref, (event, position) => {
      if (until !== undefined && event.seq > until) return;
      const isCovered = state.journalRun !== run || state.seq !== seq || run === null;
      if (isCovered) state = pipelineState.apply(state, event, { ref, position });
      else behind += 1;
    });
  }
  const folded = JSON.parse(JSON.stringify(checkpointOf(state))) as Checkpoint;
  const differing = differences(folded, written);
  must(differing.length === 0, `checkpoint.json is not the fold at ${run}:${seq}`, differing);
  return behind;
}

/** Over all runs of the chain a node ends once, and a durable reply or answer is not requested again. */
async function checkEvents(folder: string, must: Must): Promise<void> {
  const events = await eventsOf(folder);
  const once = (type: JournalEvent['type'], ops: readonly string[]): void => must(new Set(ops).size === ops.length, `${type} twice`, ops);
  once(
    'node.finished',
    events.flatMap((event) => (event.type === 'node.finished' ? [event.op] : [])),
  );
  once(
    'call.completed',
    events.flatMap((event) => (event.type === 'call.completed' ? [event.op] : [])),
  );
  once(
    'question.answered',
    events.flatMap((event) => (event.type === 'question.answered' ? [event.op] : [])),
  );
}

interface FinishedNode {
  readonly op: OpPath;
  /** Those that its attempts have left in `begun.txt`. */
  readonly lines: readonly string[];
}

/** `main/fan#1[0]/tar#0` in its third attempt leaves `1 branches/fan.sand/tar 0 3`: a lap is a visit of the fan. */
function finishedIn(events: readonly JournalEvent[]): readonly FinishedNode[] {
  const laps = new Map<OpPath, number>();
  let lap = -1;
  return events.flatMap((event) => {
    if (event.type === 'node.started' && (event.handler === 'tool' || event.handler === 'codergen')) laps.set(event.op, lap);
    if (event.type !== 'node.finished') return [];
    if (event.node === 'plan' && event.branch === undefined) lap = event.visit;
    const { op, node, visit, attempts, branch } = event;
    const place = branch ? `branches/${branch.of}.${branch.id}/${node}` : node;
    const known = laps.get(op);
    if (known === undefined) return [];
    return [{ op, lines: Array.from({ length: attempts }, (_, i) => `${known < 0 ? '' : known} ${place} ${visit} ${i + 1}`) }];
  });
}

function begunIn(folder: string): readonly string[] {
  const file = path.join(folder, 'begun.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

function makeProject(folder: string): void {
  mkdirSync(folder);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(folder, name), text);
}

async function chainIn(folder: string): Promise<Chain | undefined> {
  return newestChain(await storeIn(folder), WORKFLOW);
}

async function eventsOf(folder: string): Promise<readonly JournalEvent[]> {
  const store = await storeIn(folder);
  const chain = await newestChain(store, WORKFLOW);
  const events: JournalEvent[] = [];
  for (const { ref } of chain?.segments ?? []) await store.scan(ref, (event) => void events.push(event));
  return events;
}

function storeIn(folder: string): Promise<JournalStore> | JournalStore {
  return openFileStore(folder);
}

/** Null: it was killed, and all its children with it. */
function mlld(
  [program = '', ...words]: readonly string[],
  folder: string,
  flags: readonly string[],
  killAfterMs?: number,
): Promise<number | null> {
  const argv = [...words, 'run', 'drill.dot', '--yes', '--run-dir', 'run', ...flags];
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { cwd: folder, detached: true, stdio: 'ignore' });
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), killAfterMs);
    child.on('error', reject);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve(status);
    });
  });
}

/** Uniform in [0, 1): the same numbers for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
