/** Shell commands around the calls that a model makes, through a backend of the embedding program. graph-pipelines.md 13.3. */
import { afterEach, expect, it } from 'vitest';
import type { Backends } from '../../../src/pipeline/stage/backend.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

/** A model that opens a chest, and says what came of it. */
function divers(opened: string[]): Backends {
  return new Map([
    [
      'diver',
      (depth) => ({
        name: `diver:${depth}`,
        async execute(_stage, _frame, { callTool }) {
          const answer = await callTool('open', { chest: depth }, async () => {
            opened.push(depth);
            if (depth === 'stuck') throw new Error('the lid is stuck');
            return { coins: 3 };
          }).catch((error: unknown) => ({ output: `broke: ${(error as Error).message}` }));
          return { reply: JSON.stringify(answer) };
        },
      }),
    ],
  ]);
}

const KEEP = 'cat >> "$MLLD_RUN_DIR/../seen.txt"; echo "$MLLD_TOOL_NAME $MLLD_NODE_ID" >> "$MLLD_RUN_DIR/../seen.txt"';

async function dive(graph: string, node = '') {
  place = workshop(pipeline(`a [prompt="dive"${node}]\nstart -> a -> exit`, graph));
  const opened: string[] = [];
  const run = await place.run({ backends: divers(opened), runDirectory: 'run' });
  return { ...run, opened, place, fired: run.events.flatMap((event) => (event.type === 'hook.fired' ? [event] : [])) };
}

it('run before and after a call, with the call on their input', async () => {
  const {
    place: here,
    opened,
    report,
    fired,
  } = await dive(
    `backend="diver:40m", tool_hooks.pre=${JSON.stringify(KEEP)}, tool_hooks.post=${JSON.stringify(KEEP)}`.replaceAll(', ', '\n'),
  );
  expect(report.status).toBe('completed');
  expect(opened).toEqual(['40m']);
  const lines = here.read('seen.txt').trim().split('\n');
  expect(lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as unknown)).toEqual([
    { event: 'pre', node: 'a', tool: 'open', input: { chest: '40m' } },
    { event: 'post', node: 'a', tool: 'open', input: { chest: '40m' }, output: { coins: 3 } },
  ]);
  expect(lines).toContain('open a');
  expect(fired).toMatchObject([
    { op: 'main/a#0/try#1/model#0/tool#0', hook: 'tool_hooks.pre', timing: 'before', filter: 'open' },
    { hook: 'tool_hooks.post', timing: 'after' },
  ]);
});

it('skip the call by a status other than 0, and the backend gets the reason', async () => {
  const { place: here, opened, fired } = await dive('backend="diver:deep"', ', tool_hooks.pre="echo too deep >&2; exit 3"');
  expect(opened).toEqual([]);
  expect(JSON.parse(here.read('run/a/response.md'))).toEqual({ skipped: 'the hook ended with status 3: too deep' });
  expect(fired).toMatchObject([{ error: 'the hook ended with status 3: too deep' }]);
});

it('change nothing after the call, and get the error of a call that failed', async () => {
  const { place: here, fired, report } = await dive('backend="diver:stuck"', `, tool_hooks.post="cat > seen.txt; exit 1"`);
  expect(report.status).toBe('completed');
  expect(JSON.parse(here.read('seen.txt'))).toMatchObject({ event: 'post', error: 'the lid is stuck' });
  expect(fired).toMatchObject([{ hook: 'tool_hooks.post', error: 'the hook ended with status 1' }]);
  expect(here.read('run/a/response.md')).toContain('broke: the lid is stuck');
});

it('of the node replace those of the graph', async () => {
  const { opened } = await dive('backend="diver:1m"\ntool_hooks.pre="exit 1"', ', tool_hooks.pre=""');
  expect(opened).toEqual(['1m']);
});
