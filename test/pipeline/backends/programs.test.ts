/** Model stages that a known program executes: its words, its input, and what its reply says. graph-pipelines.md 7.3, calls.md 7 and 17. */
import { describe, expect, it } from 'vitest';
import { callModel } from '../../../src/pipeline/backends/call-model.js';
import { codergen } from '../../../src/pipeline/handlers/codergen.js';
import { bareStage } from '../../support/bare-stage.js';

interface Ran {
  readonly code: string;
  readonly words?: readonly string[];
  readonly stdin?: string;
  readonly variables: { readonly [name: string]: string };
}

const CLAUDE = (members: object): string =>
  JSON.stringify({ type: 'result', subtype: 'success', is_error: false, session_id: 's-1', usage: {}, ...members });
const lines = (...objects: readonly object[]): string => objects.map((each) => `${JSON.stringify(each)}\n`).join('');

/** The program prints this; there is no status file unless `report` says what is in it. */
function printing(
  stdout: string,
  { exitCode = 0, stderr = '', report }: { readonly exitCode?: number; readonly stderr?: string; readonly report?: object } = {},
) {
  const ran: Ran[] = [];
  const perform = (kind: string, request: unknown): unknown => {
    if (kind === 'file.read') return report ? { text: JSON.stringify(report) } : { missing: 'absent', detail: 'not there' };
    expect(kind).toBe('command.run');
    ran.push(request as Ran);
    return { stdout, stderr, exitCode, durationMs: 1 };
  };
  return { ran, perform };
}

const stageOf = (attributes: string, { perform }: ReturnType<typeof printing>, warnOnce: (line: string) => void = () => undefined) =>
  bareStage(`a [prompt="Chart the bay", ${attributes}]; start -> a -> exit`, { perform, services: { warnOnce } });

describe('each program', () => {
  it.each([
    ['claude', ['claude', '-p', '--output-format', 'json', '--effort', 'high'], CLAUDE({ result: 'charted' })],
    [
      'codex',
      ['codex', 'exec', '--json', '-c', 'model_reasoning_effort=high', '-'],
      lines(
        { type: 'thread.started', thread_id: 's-1' },
        { type: 'item.completed', item: { type: 'agent_message', text: 'charted' } },
        { type: 'turn.completed', usage: { input_tokens: 5, output_tokens: 2 } },
      ),
    ],
    ['gemini', ['gemini', '-o', 'json'], JSON.stringify({ session_id: 's-1', response: 'charted', stats: { models: {} } })],
    [
      'opencode',
      ['opencode', 'run', '--format', 'json', '--variant', 'high'],
      lines(
        { type: 'step_start', sessionID: 's-1', part: {} },
        { type: 'text', sessionID: 's-1', part: { text: 'charted' } },
        { type: 'step_finish', sessionID: 's-1', part: { tokens: { input: 5, output: 2, reasoning: 0, cache: { read: 0, write: 0 } } } },
      ),
    ],
  ])('%s gets the text on its input, and the text in its envelope is the reply', async (program, words, stdout) => {
    const world = printing(stdout);
    const { stage, files } = stageOf(`backend=${program}`, world);
    expect(await codergen.handle(stage)).toMatchObject({ status: 'success', context_updates: { last_response: 'charted' } });
    expect(files.get('response.md')).toBe('charted');
    const [ran] = world.ran;
    expect(ran?.words).toEqual(words);
    expect(ran?.stdin).toMatch(/Chart the bay\n\nYou work on the stage a of the pipeline g\./);
    expect(files.get('prompt.md')).toBe('Chart the bay');
    expect(ran?.variables).toMatchObject({ MLLD_NODE_ID: 'a', MLLD_REASONING_EFFORT: 'high' });
  });

  it('gets the settings of its node and the further words of the backend', async () => {
    const world = printing(CLAUDE({ result: 'x' }));
    const attributes =
      'backend="claude: --permission-mode  plan", llm_model="claude-x", reasoning_effort=low, tools="Read,, Bash(echo (a), b) ,Edit"';
    await codergen.handle(stageOf(attributes, world).stage);
    expect(world.ran[0]?.code).toBe(
      "claude -p --output-format json --model claude-x --effort low --allowedTools 'Read,Bash(echo (a), b),Edit' --permission-mode plan",
    );
  });

  it('is not passed what it has no option for, and the user is told', async () => {
    const warnings: string[] = [];
    const world = printing(JSON.stringify({ session_id: 's', response: 'x', stats: { models: {} } }));
    await codergen.handle(stageOf('backend=gemini, reasoning_effort=low', world, (line) => void warnings.push(line)).stage);
    expect(warnings).toEqual(['gemini has no option for the attribute reasoning_effort, so it is not passed on']);
    warnings.length = 0;
    await codergen.handle(stageOf('backend=gemini', world, (line) => void warnings.push(line)).stage);
    expect(warnings).toEqual([]);
  });
});

it.each([
  ['s-1', { reply: 'x', session: 's-1' }],
  ['--yolo', { reply: 'x' }],
])('a conversation that the program calls %s is continued unless its name would be an option', async (session_id, result) => {
  const { stage } = stageOf('backend=claude', printing(CLAUDE({ result: 'x', session_id })));
  expect(await callModel(stage, 'Chart the bay')).toEqual(result);
});

describe('the outcome', () => {
  it('is read from the end of the reply, which is kept as it is', async () => {
    const reply = 'No ink.\n{"outcome": "fail", "failure_reason": "no ink", "context_updates": {"ink": 0}}';
    const { stage, files } = stageOf('backend=claude', printing(CLAUDE({ result: reply })));
    expect(await codergen.handle(stage)).toMatchObject({ status: 'fail', failure_reason: 'no ink', context_updates: { ink: 0 } });
    expect(files.get('response.md')).toBe(reply);
  });

  it('is that of the status file where the program wrote one', async () => {
    const world = printing(CLAUDE({ result: 'x\n{"outcome": "fail"}' }), { report: { outcome: 'retry', failure_reason: 'later' } });
    expect(await codergen.handle(stageOf('backend=claude', world).stage)).toMatchObject({ status: 'retry', failure_reason: 'later' });
  });

  it('that can not be used is a bad reply', async () => {
    const world = printing(CLAUDE({ result: 'x\n{"outcome": "superb"}' }));
    await expect(codergen.handle(stageOf('backend=claude', world).stage)).rejects.toThrow(/bad reply: the report .* has to be one of/);
  });
});

describe('a failure', () => {
  const limited = CLAUDE({ is_error: true, api_error_status: 429, result: 'API Error: Request rejected (429) · slow down' });

  it.each([
    ['of the provider, beside a status of 0', limited, {}, 'rate limit: API Error: Request rejected (429)'],
    ['of the provider, on standard output', limited, { exitCode: 1 }, 'rate limit: API Error: Request rejected (429)'],
    ['that is an empty result', CLAUDE({ result: ' ' }), {}, 'bad reply: the reply has no result'],
    ['that is no envelope', 'Sure!', {}, 'bad reply: the reply is not what the adapter claude reads'],
    ['with a reason on standard error', '', { exitCode: 3, stderr: 'warming up\nno ink\n' }, 'the command ended with status 3: no ink'],
    ['with a reason on standard output alone', 'no ink\n', { exitCode: 3 }, 'the command ended with status 3: no ink'],
    ['of a program that is not there', '', { exitCode: 127, stderr: 'not found' }, 'the program claude was not found'],
  ])('%s has its class and its reason', async (_, stdout, ended, message) => {
    const { stage } = stageOf('backend=claude', printing(stdout, ended));
    await expect(codergen.handle(stage)).rejects.toThrow(message);
  });

  it('may be stated by the status file where the program alone failed, and not where the provider refused', async () => {
    const report = { outcome: 'fail', failure_reason: 'torn' };
    expect(await codergen.handle(stageOf('backend=claude', printing('', { exitCode: 3, report })).stage)).toMatchObject({
      status: 'fail',
      failure_reason: 'torn',
    });
    await expect(codergen.handle(stageOf('backend=claude', printing(limited, { report })).stage)).rejects.toThrow('rate limit');
  });
});
