/**
 * Each visit, branch, restart and child run makes model calls of its own: with `--checkpoint` none of them gets the reply of another, and
 * the same walk of a later run finds every reply at its place. graph-pipelines.md 7.3.
 */
import { afterEach, expect, it } from 'vitest';
import type { Backends } from '../../../src/pipeline/stage/backend.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

/** Numbers its replies, so that no two calls have the same one. */
function counting(): { readonly replies: string[]; readonly backends: Backends } {
  const replies: string[] = [];
  const execute = async (): Promise<{ reply: string }> => {
    replies.push(`reply ${replies.length + 1}`);
    return { reply: replies.at(-1) ?? '' };
  };
  return { replies, backends: new Map([['counted', () => ({ name: 'counted:', execute })]]) };
}

const ATTRIBUTES = 'graph [backend="counted:", default_fidelity="truncate"]';

const TWICE = 'turn [type=turn]; turn -> exit; turn -> again [condition="context.laps=1"];';

/** Returns to `again` once. */
function handlers(): ReadonlyMap<string, Handler> {
  let visits = 0;
  return new Map([['turn', { handle: async () => outcomeOf('success', { context_updates: { laps: ++visits === 1 ? '1' : 'done' } }) }]]);
}

/** In each run of a command the handlers begin anew. */
async function walkTwice(text: string, child?: string): Promise<{ readonly first: readonly string[]; readonly executed: number }> {
  place = workshop(text);
  if (child !== undefined) place.write('child.dot', child);
  const { replies, backends } = counting();
  const run = async (): Promise<readonly string[]> => {
    const { report, events } = await (place as Workshop).run({ backends, checkpoint: true, handlers: handlers() });
    expect(report).toMatchObject({ status: 'completed' });
    return events.flatMap((event) =>
      event.type === 'node.finished' && event.excerpt !== undefined ? [`${event.op} ${event.excerpt}`] : [],
    );
  };
  const first = await run();
  const executed = replies.length;
  expect(await run()).toEqual(first);
  expect(replies).toHaveLength(executed);
  return { first, executed };
}

it('executes the branches of a parallel node again where it is visited again', async () => {
  const { executed } = await walkTwice(
    pipeline(
      `again [shape=component, max_parallel=1]; a [prompt="p"]; b [prompt="p"]; join [shape=tripleoctagon]
       start -> again; again -> a -> join; again -> b -> join; join -> turn; ${TWICE}`,
      ATTRIBUTES,
    ),
  );
  expect(executed).toBe(4);
});

it('executes the branches of an inner parallel node in each branch that leads to it', async () => {
  const { executed } = await walkTwice(
    pipeline(
      `outer [shape=component, max_parallel=1]; l [type=pass]; r [type=pass]; inner [shape=component, max_parallel=1]
       a [prompt="p"]; b [prompt="p"]; near [shape=tripleoctagon]; far [shape=tripleoctagon]
       start -> outer; outer -> l -> inner; outer -> r -> inner; inner -> a -> near; inner -> b -> near; near -> far; far -> exit`,
      ATTRIBUTES,
    ).replaceAll('type=pass', 'shape=parallelogram, tool_command="true"'),
  );
  expect(executed).toBe(4);
});

it('executes the calls again after each restart', async () => {
  place = workshop(
    pipeline(
      'a [prompt="p"]; turn [type=turn]; start -> a -> turn; turn -> a [label=again, loop_restart=true]; turn -> exit [weight=1]',
      ATTRIBUTES,
    ),
  );
  const { replies, backends } = counting();
  const restarting = (): ReadonlyMap<string, Handler> => {
    let visits = 0;
    return new Map([['turn', { handle: async () => outcomeOf('success', { preferred_label: ++visits < 4 ? 'again' : '' }) }]]);
  };
  const { report } = await place.run({ backends, checkpoint: true, handlers: restarting() });
  expect(report).toMatchObject({ status: 'completed', calls: { executed: 4 } });
  const again = await place.run({ backends, checkpoint: true, handlers: restarting() });
  expect(again.report).toMatchObject({ status: 'completed', calls: { reused: 4 } });
  expect(replies).toHaveLength(4);
});

it('counts a restart also where the command died before it', async () => {
  place = workshop(
    pipeline(
      'a [prompt="p"]; turn [type=turn]; start -> a -> turn; turn -> a [label=again, loop_restart=true]; turn -> exit [weight=1]',
      ATTRIBUTES,
    ),
  );
  const { replies, backends } = counting();
  let visits = 0;
  const turn: Handler = { handle: async () => outcomeOf('success', { preferred_label: ++visits < 4 ? 'again' : '' }) };
  const own = { backends, checkpoint: true, handlers: new Map([['turn', turn]]) };
  for (let restarts = 0; restarts < 3; restarts++) {
    const ending = new AbortController();
    const onEvent = ({ type }: { type: string }): void => void (type === 'run.finished' && ending.abort());
    await place.run({ ...own, signal: ending.signal, onEvent, ...(restarts === 0 ? {} : { resume: '' }) });
  }
  expect((await place.run({ ...own, resume: '' })).report.status).toBe('completed');
  expect(replies).toHaveLength(4);
});

it('executes the calls of a child pipeline again in each visit of its manager', async () => {
  const child = pipeline('c [prompt="p"]; start -> c -> exit', ATTRIBUTES);
  const { executed } = await walkTwice(
    pipeline(
      `again [shape=house, manager.poll_interval=10ms]; start -> again -> turn; ${TWICE}`,
      `${ATTRIBUTES}; graph [stack.child_dotfile="child.dot"]`,
    ),
    child,
  );
  expect(executed).toBe(2);
});

it('executes the calls of a child pipeline for each manager of it', async () => {
  const child = pipeline('c [prompt="p"]; start -> c -> exit', ATTRIBUTES);
  const { executed } = await walkTwice(
    pipeline(
      'm [shape=house, manager.poll_interval=10ms]; n [shape=house, manager.poll_interval=10ms]; start -> m -> n -> exit',
      `${ATTRIBUTES}; graph [stack.child_dotfile="child.dot"]`,
    ),
    child,
  );
  expect(executed).toBe(2);
});
