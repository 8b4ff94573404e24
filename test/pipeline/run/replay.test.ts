/** Recorded runs of pipelines again: the same walk from the journal alone, whatever it met; and where the record and the replay part. */
import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { Journal, JournalStore } from '../../../journal/store.js';
import type { Backend, Backends } from '../../../src/pipeline/stage/backend.js';
import { outcomeOf, StageError } from '../../../src/pipeline/model/outcome.js';
import type { Stage } from '../../../src/pipeline/stage/stage.js';
import { callbackInterviewer } from '../../../src/pipeline/human/interviewer.js';
import type { ReplayOptions, ReplayReport } from '../../../src/session/rerun/replay-options.js';
import { replayRun } from '../../../src/session/rerun/replay.js';
import type { PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { pipeline, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

let shop: Workshop | undefined;
afterEach(() => shop?.remove());

async function latest({ store }: Workshop): Promise<ReplayOptions['ref']> {
  const runs = (await Promise.all((await store.workflows()).map((workflow) => store.runs(workflow)))).flat();
  const [last] = runs.filter(({ ref }) => ref.workflow === 'p.dot').toReversed();
  return (last as NonNullable<typeof last>).ref;
}

/** With nothing of the project: its folder is another one. */
async function replay(from: Workshop, options: Partial<ReplayOptions> = {}): Promise<ReplayReport> {
  return replayRun({
    store: from.store,
    ref: await latest(from),
    root: '/nowhere',
    divergences: 'first',
    sinks: { stdout: () => undefined, stderr: () => undefined },
    ...options,
  });
}

async function ranAndReplayed(
  text: string,
  options: Partial<PipelineRunOptions> = {},
): Promise<{ run: PipelineRun; replayed: ReplayReport }> {
  shop = workshop(text);
  const run = await shop.run(options);
  const replayed = await replay(shop);
  return { run, replayed };
}

/** History, context and ending are those of the run. */
function expectSame({ run, replayed }: { run: PipelineRun; replayed: ReplayReport }): void {
  expect(replayed.divergences).toEqual([]);
  expect(replayed.verdict).toBe('same');
  expect(replayed.walk?.history).toEqual(run.checkpoint.node_history);
  expect(replayed.walk?.context).toEqual(run.checkpoint.context);
  expect(replayed.error === undefined).toBe(run.report.error === undefined);
}

const FAST = 'retry_delay="1ms", retry_jitter=false';

describe('a pipeline replays the same', () => {
  it('with commands that say something else each time, branches side by side, and what a model said', async () => {
    const { run, replayed } = await ranAndReplayed(
      pipeline(
        `plan [prompt="Plan $goal"]; fan [shape=component]; meet [shape=tripleoctagon]; end [shape=parallelogram, tool_command="date +%N"]
         a [shape=parallelogram, tool_command="sleep 0.0$(($$ % 7)); date +%N"]; b [shape=parallelogram, tool_command="date +%N; cat /proc/sys/kernel/random/uuid"]
         a2 [prompt="More"]; start -> plan -> fan; fan -> a -> a2 -> meet; fan -> b -> meet; meet -> end -> exit`,
        'goal="the tide"',
      ),
      { backend: 'cmd:date +%N; wc -c' },
    );
    expectSame({ run, replayed });
    expect(run.report.status).toBe('completed');
  });

  it('whose replies of a function were reused, also where its file was edited or is gone since', async () => {
    shop = workshop(
      pipeline(
        'a [prompt="A"]; b [prompt="B"]; t [shape=parallelogram, tool_command="echo t"]; start -> a -> t -> b -> exit',
        'backend="exe:f.mld#ask"',
      ),
    );
    const file = (version: string): string =>
      `/exe llm @ask(prompt, node, context) = js { return "${version} " + node.id }\n/hook @log after @ask = [ => null ]\n`;
    shop.write('f.mld', file('one'));
    await shop.run({ checkpoint: true });
    for (const change of [() => undefined, () => shop?.write('f.mld', file('two')), () => rm(`${shop?.folder}/f.mld`)]) {
      await change();
      const run = await shop.run({ checkpoint: true });
      expect(run.report.calls).toMatchObject({ executed: 0, reused: 2 });
      expectSame({ run, replayed: await replay(shop) });
    }
  });

  it('with retries, used up or not, and with time limits', async () => {
    const { run, replayed } = await ranAndReplayed(
      pipeline(
        `flaky [shape=parallelogram, tool_command="echo x >> n; test $(wc -l < n) -ge 3", max_retries=4, ${FAST}]
         slow [shape=parallelogram, tool_command="echo begun; sleep 9", timeout="60ms", max_retries=1, ${FAST}]
         start -> flaky -> slow; slow -> exit [condition="outcome=fail"]; slow -> exit`,
      ),
    );
    expectSame({ run, replayed });
    expect(replayed.walk?.history.map(({ node_id, attempts }) => `${node_id}:${attempts}`)).toEqual([
      'start:1',
      'flaky:3',
      'slow:2',
      'exit:1',
    ]);
  });

  it('with a branch that is called off when another has succeeded', async () => {
    const { run, replayed } = await ranAndReplayed(
      pipeline(
        `fan [shape=component, join_policy=first_success]; meet [shape=tripleoctagon]
         a [shape=parallelogram, tool_command="sleep 9; echo never"]; b [shape=parallelogram, tool_command="echo first"]
         c [shape=parallelogram, tool_command="false", max_retries=9, retry_delay="5s"]
         start -> fan; fan -> a -> meet; fan -> b -> meet; fan -> c -> meet; meet -> exit`,
      ),
    );
    expectSame({ run, replayed });
  });

  it('with a branch that is called off between the start of its call and that of its command', async () => {
    const scriptText = pipeline(
      `fan [shape=component, join_policy=first_success]; meet [shape=tripleoctagon]
       a [prompt="A"]; b [shape=parallelogram, tool_command="sleep 0.2"]; start -> fan; fan -> a -> meet; fan -> b -> meet; meet -> exit`,
      'backend="cmd:sleep 9"',
    );
    shop = workshop(scriptText);
    const run = await shop.run();
    const ref = await latest(shop);
    const store = openMemoryStore();
    const journal = await store.create(ref);
    const isOfCommand = ({ type, op }: { readonly type: string; readonly op?: string }): boolean =>
      (type === 'effect.performed' || type === 'process.started') && op === 'main/fan#0[0]/a#0/try#1/model#0';
    expect(run.events.some(isOfCommand)).toBe(true);
    for (const event of run.events) if (!isOfCommand(event)) journal.post(event);
    await journal.close();
    expectSame({ run, replayed: await replay({ ...shop, store }, { scriptText }) });
  });

  it.each([
    ['who answer', 'y', 'Y'],
    ['who let the time pass', undefined, 'N'],
  ])('with people %s', async (_, given, selected) => {
    const people = callbackInterviewer(async (_question, signal) => {
      if (given !== undefined) return given;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
    });
    const { run, replayed } = await ranAndReplayed(
      pipeline(
        `ask [shape=hexagon, timeout="30ms", "human.default_choice"=no]; yes [prompt="Y"]; no [prompt="N"]
         start -> ask; ask -> yes [label="[Y] Yes"]; ask -> no [label="[N] No"]; yes -> exit; no -> exit`,
      ),
      { people },
    );
    expectSame({ run, replayed });
    expect(replayed.walk?.context).toMatchObject({ 'human.gate.selected': selected });
  });

  it('that fails: an unmet gate, a stage without a way on, a limit of steps or of restarts', async () => {
    for (const [body, code] of [
      ['work [shape=parallelogram, tool_command="echo $$; false", goal_gate=true, max_retries=0]; start -> work -> exit', 'STAGE_FAILED'],
      ['a [prompt="again"]; start -> a; a -> a; a -> exit [condition="outcome=fail"]', 'PIPELINE_LIMIT'],
      ['a [prompt="again"]; start -> a; a -> a [loop_restart=true]; a -> exit [condition="outcome=fail"]', 'PIPELINE_LIMIT'],
    ] as const) {
      const { run, replayed } = await ranAndReplayed(pipeline(body, code === 'PIPELINE_LIMIT' ? 'max_steps=7' : ''));
      expectSame({ run, replayed });
      expect(replayed).toMatchObject({ status: 'failed', error: { code } });
      shop?.remove();
    }
  });

  it('each run of a line: what was restarted, and what was resumed', async () => {
    const restarts = await ranAndReplayed(
      pipeline(
        `work [shape=parallelogram, tool_command="echo x >> n; test $(wc -l < n) -ge 2", max_retries=0]; start -> prep -> work; prep [prompt="Prepare"]
         work -> prep [condition="outcome=fail", loop_restart=true]; work -> exit`,
      ),
    );
    expectSame(restarts);
    const { store } = shop as Workshop;
    const [first] = await store.runs((await latest(shop as Workshop)).workflow);
    const again = await replay(shop as Workshop, { ref: (first as NonNullable<typeof first>).ref });
    expect(again).toMatchObject({ verdict: 'same', status: 'restarted' });
    shop?.remove();

    shop = workshop(
      pipeline(
        `one [prompt="1"]; two [shape=parallelogram, tool_command="test -e open && date +%N", max_retries=0]; start -> one -> two -> exit`,
      ),
    );
    await shop.run();
    shop.write('open', '');
    const run = await shop.run({ resume: '' });
    expect(run.report.status).toBe('completed');
    expectSame({ run, replayed: await replay(shop) });
  });

  it('with functions of the program that ran it, which come to what they came to', async () => {
    let attempts = 0;
    const handlers = new Map([
      [
        'odd',
        {
          async handle(stage: Stage) {
            if (attempts++ === 0) throw new StageError('transient', 'not yet');
            await stage.artifacts.store('odd.1', 'odd', 'found');
            return outcomeOf('success', { context_updates: { luck: Math.random() }, notes: 'by chance' });
          },
        },
      ],
    ]);
    const { run, replayed } = await ranAndReplayed(pipeline(`x [type=odd, ${FAST}]; start -> x -> exit`), { handlers });
    expectSame({ run, replayed });
  });

  it('with models of the program that ran it, which reply what they replied, and the tools that they called', async () => {
    let replies = 0;
    const backends: Backends = new Map([
      [
        'pigeon',
        (rest: string): Backend => ({
          name: `pigeon:${rest}`,
          async execute(_stage, _frame, { callTool }) {
            if (replies++ === 0) throw new StageError('transient', 'lost on the way');
            await callTool('weather', { place: rest }, async () => Math.random());
            return { reply: `coo ${Math.random()}`, outcome: outcomeOf('success', { context_updates: { luck: Math.random() } }) };
          },
        }),
      ],
    ]);
    const { run, replayed } = await ranAndReplayed(
      pipeline(
        `a [prompt="A", max_retries=2, ${FAST}]; b [prompt="B"]; start -> a -> b -> exit`,
        'backend="pigeon:east"; "tool_hooks.pre"="date +%N"',
      ),
      { backends },
    );
    expectSame({ run, replayed });
    expect(replies).toBe(3);
    expect(run.report.status).toBe('completed');
  });

  it('with a manager and its child, each by itself', async () => {
    shop = workshop(
      pipeline(`boss [shape=house, "manager.poll_interval"="20ms"]; start -> boss -> exit`, '"stack.child_dotfile"="child.dot"'),
    );
    shop.write('child.dot', pipeline('w [shape=parallelogram, tool_command="sleep 0.05; date +%N"]; start -> w -> exit'));
    const run = await shop.run();
    expect(run.report.status).toBe('completed');
    expectSame({ run, replayed: await replay(shop) });
    const child = (await shop.store.runs('child.dot' as ReplayOptions['ref']['workflow'])).at(-1);
    expect(await replay(shop, { ref: (child as NonNullable<typeof child>).ref })).toMatchObject({ verdict: 'same', status: 'completed' });
  });
});

describe('a replayed pipeline', () => {
  const TEXT = pipeline(
    `plan [prompt="Plan"]; work [shape=parallelogram, tool_command="date +%N"]; fan [shape=component]; meet [shape=tripleoctagon]
     a [prompt="A"]; b [prompt="B"]; start -> plan -> work -> fan; fan -> a -> meet; fan -> b -> meet; meet -> exit`,
  );

  it('says where a changed one parts from the record: a question, a command, a way', async () => {
    shop = workshop(TEXT);
    await shop.run();
    const parted = async (from: string, to: string): Promise<unknown> =>
      (await replay(shop as Workshop, { scriptText: TEXT.replace(from, to) })).divergences.map(
        ({ reason, op, kind }) => `${reason} ${kind} ${op}`,
      );
    expect(await parted('prompt="Plan"', 'prompt="Think"')).toEqual(['changed call main/plan#0/try#1/model#0']);
    expect(await parted('date +%N', 'date +%s')).toEqual(['changed command.run main/work#0/try#1']);
    expect(await parted('start -> plan -> work', 'start -> work [weight=2]; start -> plan -> work')).toEqual([
      'changed edge.selected main',
    ]);
    expect(await parted('shape=tripleoctagon', 'shape=tripleoctagon, prompt="Best?"')).toEqual(['changed node.started main/meet#0']);
    expect(await parted('prompt="B"', 'prompt="B" ')).toEqual([]);
  });

  it('continues after a divergence with the old result, or ends where it has none', async () => {
    shop = workshop(TEXT);
    await shop.run();
    const all = async (from: string, to: string): Promise<ReplayReport> =>
      replay(shop as Workshop, { scriptText: TEXT.replace(from, to), divergences: 'all' });
    const changed = await all('date +%N', 'date +%s');
    expect(changed.divergences.map(({ kind }) => kind)).toEqual(['command.run']);
    expect(changed.walk?.history.at(-1)).toMatchObject({ node_id: 'exit' });
    const more = await all('start -> plan -> work', 'extra [shape=parallelogram, tool_command="echo"]; start -> plan -> extra -> work');
    expect(more.verdict).toBe('diverged');
    expect(more.divergences.map(({ reason, op }) => `${reason} ${op}`)).toContain('new main/extra#0');
  });

  it('stops behind any event with the state of then', async () => {
    shop = workshop(TEXT);
    const { events } = await shop.run();
    const { pipelineState } = await import('../../../replay/pipeline/pipeline-state.js');
    const ref = await latest(shop);
    let state = pipelineState.initial();
    for (const event of events.slice(
      0,
      events.findLastIndex(({ type }) => type === 'node.finished'),
    )) {
      state = pipelineState.apply(state, event, { ref, position: { offset: 0, bytes: 0 } });
      const { stopped, verdict } = await replay(shop, { until: { seq: event.seq } });
      expect(verdict).toBe('stopped');
      const context = Object.fromEntries(stopped?.variables.map(({ name, value }) => [name, value]) ?? []);
      if (!stopped?.op.includes('fan#0[')) expect(context, `behind ${event.seq} ${event.type}`).toEqual(state.main.context);
    }
  });

  it('stops where a node first starts, and says which there are', async () => {
    shop = workshop(TEXT);
    await shop.run();
    const { stopped } = await replay(shop, { until: { at: 'work' } });
    expect(stopped?.variables).toContainEqual({ name: 'current_node', value: 'work' });
    expect(stopped?.variables.map(({ name }) => name)).not.toContain('tool.output');
    await expect(replay(shop, { until: { at: 'nowhere' } })).rejects.toMatchObject({
      code: 'REPLAY_STOP',
      hint: expect.stringContaining('"plan"') as string,
    });
  });

  it('agrees with the record of one that died at any event, up to its end', async () => {
    for (let last = 3; last < 60; last += 4) {
      const store = openMemoryStore();
      const { dying, died } = dyingAt(store, last);
      shop = workshop(TEXT, dying);
      await Promise.race([shop.begin(), died]);
      const from = { ...shop, store };
      const { verdict, divergences } = await replay(from);
      expect(divergences, `died at event ${last}`).toEqual([]);
      expect(['cut', 'same']).toContain(verdict);
      // Commands that were left running write files for a moment.
      await rm(shop.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      if (verdict === 'same') break;
    }
  }, 60_000);
});

/** Takes so many events and loses the rest. */
function dyingAt(store: JournalStore, count: number): { readonly dying: JournalStore; readonly died: Promise<void> } {
  let die = (): void => undefined;
  const died = new Promise<void>((resolve) => (die = resolve));
  let left = count;
  const lossy = (journal: Journal): Journal => {
    const take = (): boolean => {
      left -= 1;
      if (left === -1) void journal.flush().then(die);
      return left >= 0;
    };
    return {
      ref: journal.ref,
      post: (fact: Fact) => (take() ? journal.post(fact) : ({ seq: 0, position: { offset: 0, bytes: 0 } } as ReturnType<Journal['post']>)),
      append: (...args) => (take() ? journal.append(...args) : new Promise(() => undefined)),
      appendOwn: (...args) => journal.appendOwn(...args),
      flush: () => journal.flush(),
      close: () => journal.close(),
    };
  };
  const dying = Object.create(store, {
    create: { value: async (ref: Parameters<JournalStore['create']>[0]) => lossy(await store.create(ref)) },
  }) as JournalStore;
  return { dying, died };
}
