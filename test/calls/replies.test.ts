/** Results, classes of failures and usage are read from the replies of programs and providers. */
import { describe, expect, it } from 'vitest';

import { readReply, type ReplyContext } from '../../src/calls/replies/read-reply.js';
import { modelOf } from '../../src/calls/replies/program.js';
import type { Reply } from '../../src/calls/replies/reply.js';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

function read(stdout: unknown, context: Partial<ReplyContext> = {}, rest: Partial<Reply> = {}): ReturnType<typeof readReply> {
  const text =
    typeof stdout === 'string'
      ? stdout
      : Array.isArray(stdout)
        ? stdout.map((event) => JSON.stringify(event)).join('\n')
        : JSON.stringify(stdout);
  return readReply({ stdout: text, stderr: '', exitCode: 0, ...rest }, { nowMs: NOW_MS, ...context });
}

const CLAUDE = { type: 'result', subtype: 'success', is_error: false, session_id: 's-1', result: 'calm', stop_reason: 'end_turn' };
const CLAUDE_USAGE = {
  total_cost_usd: 0.0129,
  modelUsage: {
    'claude-haiku-4-5': { inputTokens: 200, outputTokens: 20, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.0003 },
    'claude-sonnet-4-5': {
      inputTokens: 1200,
      outputTokens: 80,
      cacheReadInputTokens: 300,
      cacheCreationInputTokens: 200,
      thinkingTokens: 30,
      costUSD: 0.0126,
    },
  },
};
const CODEX = [
  { type: 'thread.started', thread_id: 't-1' },
  { type: 'turn.started' },
  { type: 'item.completed', item: { id: 'i0', type: 'reasoning', text: 'hm' } },
  { type: 'item.completed', item: { id: 'i1', type: 'agent_message', text: 'calm' } },
];
const CODEX_END = {
  type: 'turn.completed',
  usage: { input_tokens: 2000, cached_input_tokens: 500, output_tokens: 100, reasoning_output_tokens: 40 },
};

describe('claude', () => {
  it('has the result, the session and the sums over its models', () => {
    expect(read({ ...CLAUDE, ...CLAUDE_USAGE })).toEqual({
      adapter: 'claude',
      text: 'calm',
      session: 's-1',
      usage: {
        model: 'claude-sonnet-4-5',
        provider: 'anthropic',
        inputTokens: 1900,
        cachedInputTokens: 300,
        cacheWriteTokens: 200,
        outputTokens: 100,
        reasoningTokens: 30,
        costUsd: 0.0129,
        models: [
          {
            model: 'claude-sonnet-4-5',
            inputTokens: 1700,
            cachedInputTokens: 300,
            cacheWriteTokens: 200,
            outputTokens: 80,
            reasoningTokens: 30,
            costUsd: 0.0126,
          },
          { model: 'claude-haiku-4-5', inputTokens: 200, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 20, costUsd: 0.0003 },
        ],
      },
    });
  });

  it('has the structured output beside the text', () => {
    expect(read({ ...CLAUDE, structured_output: { mark: 2 } })).toMatchObject({ text: 'calm', data: { mark: 2 } });
  });

  it('takes the usage of the main loop where no model has one of its own', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 1, output_tokens: 3 };
    expect(read({ ...CLAUDE, usage })).toMatchObject({
      usage: { inputTokens: 16, cachedInputTokens: 5, cacheWriteTokens: 1, outputTokens: 3 },
    });
  });

  it.each([
    ['an error beside the subtype success', { is_error: true, api_error_status: 529, result: 'Overloaded' }, 'overloaded'],
    [
      'a limit of the organisation',
      { is_error: true, api_error_status: 429, result: 'API Error: Request rejected (429) · later' },
      'rate-limit',
    ],
    ['no connection', { is_error: true, api_error_status: null, result: 'API Error: Connection error.' }, 'network'],
    ['no answer in time', { is_error: true, api_error_status: null, result: 'API Error: Request timed out.' }, 'network'],
    ['a connection that was cut', { is_error: true, result: 'API Error: Unable to connect to API (ECONNRESET)' }, 'network'],
    ['a key that is not valid', { is_error: true, api_error_status: 401, result: 'Invalid API key · Please run /login' }, 'auth'],
    ['a session limit', { is_error: true, api_error_status: 429, result: "You've hit your session limit · resets 2am (UTC)" }, 'quota'],
    ['a refusal', { is_error: true, api_error_status: 400, stop_reason: 'refusal', result: 'no' }, 'content'],
    ['its own limit of turns', { is_error: true, subtype: 'error_max_turns', errors: ['Reached maximum number of turns (1)'] }, 'budget'],
    ['its own limit of money', { is_error: true, subtype: 'error_max_budget_usd' }, 'budget'],
    ['a schema that it never met', { is_error: true, subtype: 'error_max_structured_output_retries' }, 'bad-reply'],
    ['an error during execution', { is_error: true, subtype: 'error_during_execution' }, 'crash'],
  ])('fails for %s', (_, members, failureClass) => {
    expect(read({ ...CLAUDE, ...members }).failure).toMatchObject({ class: failureClass, evidence: 'envelope' });
  });

  it('knows from the event of a stream when a spent allowance is there again', () => {
    const resetsAt = NOW_MS / 1000 + 3600;
    const stream = [
      { type: 'system', subtype: 'init', session_id: 's-1' },
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt } },
      { ...CLAUDE, is_error: true, api_error_status: 429, result: 'limit' },
    ];
    expect(read(stream).failure).toMatchObject({ class: 'quota', resetsAtMs: resetsAt * 1000, status: 429 });
  });

  it('reads the next moment of a clock time in the zone that is named', () => {
    const failure = (text: string): unknown =>
      read({ ...CLAUDE, is_error: true, api_error_status: 429, result: `You've hit your weekly limit · resets ${text}` }).failure
        ?.resetsAtMs;
    expect(failure('2pm (UTC)')).toBe(Date.parse('2026-03-01T14:00:00Z'));
    expect(failure('2am (UTC)')).toBe(Date.parse('2026-03-02T02:00:00Z'));
    expect(failure('2:30pm (Europe/Berlin)')).toBe(Date.parse('2026-03-01T13:30:00Z'));
    expect(failure('2pm (Atlantis)')).toBeUndefined();
  });

  it('says that a result was cut at its limit of tokens', () => {
    expect(read({ ...CLAUDE, stop_reason: 'max_tokens' })).toMatchObject({ text: 'calm', truncated: true });
  });
});

describe('codex', () => {
  it('has the last message, the thread, and the usage of the last turn, which counts those before it', () => {
    const first = { type: 'turn.completed', usage: { input_tokens: 900, output_tokens: 50 } };
    expect(read([...CODEX, first, CODEX_END])).toEqual({
      adapter: 'codex',
      text: 'calm',
      session: 't-1',
      usage: { provider: 'openai', inputTokens: 2000, cachedInputTokens: 500, outputTokens: 100, reasoningTokens: 40, requests: 2 },
    });
  });

  it('counts a request for each turn and each use of a tool', () => {
    const tool = { type: 'item.completed', item: { type: 'command_execution', command: 'ls' } };
    const thought = { type: 'item.completed', item: { type: 'reasoning', text: 'hm' } };
    expect(read([...CODEX, CODEX_END]).usage).toMatchObject({ requests: 1 });
    expect(read([...CODEX, tool, thought, tool, CODEX_END]).usage).toMatchObject({ requests: 3 });
  });

  it('has waited through an error that a completed turn follows', () => {
    expect(read([...CODEX, { type: 'error', message: 'stream disconnected before completion' }, CODEX_END]).failure).toBeUndefined();
  });

  it.each([
    ["You've hit your usage limit. Upgrade to Pro or try again in 45 minutes.", { class: 'quota', resetsAtMs: NOW_MS + 45 * 60_000 }],
    ['exceeded retry limit, last status: 429 Too Many Requests', { class: 'rate-limit' }],
    ['unexpected status 503 Service Unavailable', { class: 'overloaded' }],
    ['unexpected status 401 Unauthorized', { class: 'auth' }],
    ['Selected model is at capacity. Please try a different model.', { class: 'overloaded' }],
    ['stream disconnected before completion', { class: 'network' }],
    ['something odd', { class: 'crash' }],
  ])('fails with %j', (message, failure) => {
    expect(read([...CODEX, { type: 'turn.failed', error: { message } }], {}, { exitCode: 1 }).failure).toMatchObject(failure);
  });
});

describe('gemini', () => {
  const tokens = { prompt: 1700, cached: 300, candidates: 70, thoughts: 10 };

  it('counts thoughts as output, which a stream has only in its total', () => {
    const object = { session_id: 's', response: 'calm', stats: { models: { 'gemini-2.5-pro': { tokens } } } };
    expect(read(object)).toMatchObject({
      text: 'calm',
      usage: { model: 'gemini-2.5-pro', inputTokens: 1700, cachedInputTokens: 300, outputTokens: 80, reasoningTokens: 10 },
    });
    const lines = [
      { type: 'init', session_id: 's' },
      { type: 'message', role: 'assistant', content: 'ca', delta: true },
      { type: 'message', role: 'assistant', content: 'lm', delta: true },
      {
        type: 'result',
        status: 'success',
        stats: { models: { 'gemini-2.5-pro': { total_tokens: 1780, input_tokens: 1700, cached: 300 } } },
      },
    ];
    expect(read(lines)).toMatchObject({ text: 'calm', usage: { inputTokens: 1700, outputTokens: 80, requests: 1 } });
  });

  it('counts the requests that its tokens are a sum of', () => {
    const object = { session_id: 's', response: 'calm', stats: { models: { m: { tokens, api: { totalRequests: 4 } } } } };
    expect(read(object).usage).toMatchObject({ requests: 4 });
    const use = { type: 'tool_use', tool_name: 'ls' };
    const end = { type: 'result', status: 'success', stats: { models: { m: { total_tokens: 1780, input_tokens: 1700 } } } };
    expect(read([{ type: 'init', session_id: 's' }, use, use, end]).usage).toMatchObject({ requests: 3 });
  });

  it.each([
    [
      { type: 'TerminalQuotaError', code: 429, message: 'Your quota will reset after 3h12m4s.' },
      1,
      { class: 'quota', resetsAtMs: NOW_MS + 11_524_000 },
    ],
    [{ type: 'ApiError', code: 503, message: 'overloaded' }, 1, { class: 'overloaded', status: 503 }],
    [{ type: 'FatalAuthenticationError', code: 41, message: 'no method' }, 41, { class: 'auth' }],
    [{ type: 'FatalTurnLimitedError', message: 'turns' }, 53, { class: 'budget' }],
    [{ type: 'ApiError', code: 400, message: 'blocked' }, 1, { class: 'crash' }],
    [{ type: 'ApiError', code: 400, message: 'Response was blocked: SAFETY' }, 1, { class: 'content', status: 400 }],
  ])('fails with %j', (error, exitCode, failure) => {
    expect(read({ session_id: 's', error }, { commandLine: 'gemini -o json' }, { exitCode }).failure).toMatchObject(failure);
  });

  it.each([
    ['Resource has been exhausted (e.g. check quota).', { class: 'rate-limit' }],
    ['The model is overloaded. Please try again later.', { class: 'overloaded' }],
    ['exception TypeError: fetch failed sending request', { class: 'network' }],
    ['You have exhausted your capacity on this model. Your quota will reset after 1m0s.', { class: 'quota', resetsAtMs: NOW_MS + 60_000 }],
    ['No input provided via stdin.', { class: 'crash' }],
  ])('a stream has no code, and error output neither: %s', (message, failure) => {
    const lines = [
      { type: 'init', session_id: 's' },
      { type: 'result', status: 'error', error: { type: 'ApiError', message } },
    ];
    expect(read(lines, { commandLine: 'gemini -o stream-json' }, { exitCode: 1 }).failure).toMatchObject(failure);
    const printed = { stdout: '', stderr: `${message}\n`, exitCode: 1 };
    expect(read('', { commandLine: 'gemini -p hello' }, printed).failure).toMatchObject(failure);
  });

  it('an answer may begin with the words of an error', () => {
    const printed = { stdout: 'Resource has been exhausted, says the log.', stderr: '', exitCode: 0 };
    expect(read('', { commandLine: 'gemini -p hello' }, printed).failure).toBeUndefined();
  });
});

describe('opencode', () => {
  const event = (type: string, more: object): object => ({ type, sessionID: 'ses_1', ...more });

  it('has failed where its one event is that of an error', () => {
    const error = { type: 'error', sessionID: 'o1', error: { name: 'ProviderAuthError', data: { message: 'no key' } } };
    const found = read(JSON.stringify(error), { commandLine: 'opencode run --format json x' });
    expect(found).toMatchObject({ adapter: 'opencode', failure: { class: 'auth', message: 'no key' } });
  });

  it('adds its steps', () => {
    const step = event('step_finish', {
      part: { cost: 0.002, tokens: { input: 100, output: 20, reasoning: 5, cache: { read: 30, write: 10 } } },
    });
    expect(read([event('text', { part: { text: 'ca' } }), step, event('text', { part: { text: 'lm' } }), step])).toMatchObject({
      text: 'ca\nlm',
      session: 'ses_1',
      usage: {
        inputTokens: 280,
        cachedInputTokens: 60,
        cacheWriteTokens: 20,
        outputTokens: 50,
        reasoningTokens: 10,
        costUsd: 0.004,
        requests: 2,
      },
    });
  });

  it('is cut where a step has no end, or where the step that a tool calls for is missing', () => {
    const text = event('text', { part: { text: 'I will look.' } });
    const step = (reason: string): object => event('step_finish', { part: { reason, cost: 0.01, tokens: { input: 100, output: 10 } } });
    const start = event('step_start', {});
    const failure = { class: 'network', message: 'the stream ended before its last event' };
    for (const cut of [
      [start, text],
      [start, text, step('tool-calls')],
      [start, text, step('tool-calls'), start],
    ])
      expect(read(cut, { adapter: 'opencode' })).toMatchObject({ failure });
    for (const whole of [
      [start, text, step('tool-calls'), start, step('stop')],
      [start, text, step('tool-calls'), event('done', {})],
    ])
      expect(read(whole, { adapter: 'opencode' })).toMatchObject({ text: 'I will look.' });
    expect(read([start, text, step('tool-calls'), start], { adapter: 'opencode' }).usage).toMatchObject({ costUsd: 0.01 });
  });

  it('has the wait that the provider asks for, and a code that is more exact than its status', () => {
    const error = (data: object): object[] => [event('step_start', {}), event('error', { error: { name: 'APIError', data } })];
    expect(read(error({ message: 'slow', statusCode: 429, responseHeaders: { 'Retry-After': '2.5' } })).failure).toMatchObject({
      class: 'rate-limit',
      retryAfterMs: 2500,
    });
    const responseBody = JSON.stringify({ error: { code: 'insufficient_quota' } });
    expect(read(error({ message: 'spent', statusCode: 429, responseBody })).failure).toMatchObject({ class: 'quota' });
  });
});

describe('providers', () => {
  it('reads a chat completion and a response of OpenAI', () => {
    const chat = {
      choices: [{ message: { content: 'calm' }, finish_reason: 'length' }],
      model: 'gpt-5',
      usage: { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 }, completion_tokens: 3 },
    };
    expect(read(chat)).toMatchObject({
      adapter: 'openai',
      text: 'calm',
      truncated: true,
      usage: { model: 'gpt-5', inputTokens: 10, cachedInputTokens: 4, outputTokens: 3 },
    });
    const response = {
      object: 'response',
      status: 'completed',
      model: 'gpt-5',
      output: [
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'ca' },
            { type: 'output_text', text: 'lm' },
          ],
        },
      ],
      usage: { input_tokens: 10, output_tokens: 3 },
    };
    expect(read(response)).toMatchObject({ adapter: 'openai', text: 'calm' });
    expect(read({ choices: [{ message: { content: null, refusal: 'no' } }] }).failure).toMatchObject({ class: 'content' });
  });

  it('is a failure where the content filter of OpenAI ended the response', () => {
    const reply = { object: 'response', status: 'incomplete', incomplete_details: { reason: 'content_filter' }, output: [], usage: {} };
    expect(read({ ...reply, id: 'r', model: 'gpt-5' }, { adapter: 'openai' }).failure).toMatchObject({ class: 'content' });
  });

  it('reads a message of Anthropic, and the input of a tool where there is no text', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 3 };
    expect(read({ type: 'message', content: [{ type: 'text', text: 'calm' }], usage })).toMatchObject({
      adapter: 'anthropic',
      text: 'calm',
      usage: { inputTokens: 15 },
    });
    expect(read({ type: 'message', content: [{ type: 'tool_use', input: { mark: 2 } }] })).toMatchObject({ data: { mark: 2 } });
    expect(read({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }).failure).toMatchObject({
      class: 'overloaded',
      message: 'busy',
    });
  });

  it('counts status and headers of an HTTP reply, and its code more than its status', () => {
    const reply = (status: number, body: object): string => `HTTP/1.1 ${status} x\r\nRetry-After: 3\r\n\r\n${JSON.stringify(body)}`;
    expect(read(reply(429, { error: { message: 'slow', code: null } })).failure).toMatchObject({
      class: 'rate-limit',
      status: 429,
      retryAfterMs: 3000,
    });
    expect(read(reply(429, { error: { message: 'spent', code: 'insufficient_quota' } })).failure).toMatchObject({ class: 'quota' });
    expect(read('HTTP/1.1 100 Continue\r\n\r\nHTTP/2 503 \r\n\r\n<html>').failure).toMatchObject({ class: 'overloaded' });
  });
});

describe('a reply with other lines around it', () => {
  const warned = (reply: string): string =>
    `[npx] installing\nWarning: no stdin data received\n${reply}\nan update is available\nsee there`;

  it.each([
    ['claude', JSON.stringify(CLAUDE)],
    ['claude', JSON.stringify([{ type: 'system', subtype: 'init', session_id: 's-1' }, CLAUDE])],
    ['claude', JSON.stringify(CLAUDE, undefined, 2)],
    [
      'codex',
      [...CODEX, { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } }]
        .map((event) => JSON.stringify(event))
        .join('\na stray line\n'),
    ],
  ] as const)('is read where the option names %s', (adapter, reply) => {
    const found = read(warned(reply), { adapter });
    expect(found).toMatchObject({ adapter, text: 'calm' });
    expect(found.failure).toBeUndefined();
  });

  it('is looked for in time that grows with the text, also where each line begins as an object does', { timeout: 60_000 }, () => {
    const text = `{'no': '${'x'.repeat(2000)}'}\n`.repeat(1000);
    expect(read(text, { adapter: 'claude' }).failure).toMatchObject({ class: 'bad-reply' });
  });

  it('is cut where its last line is', () => {
    const [system, result] = [JSON.stringify({ type: 'system', subtype: 'init', session_id: 's-1' }), JSON.stringify(CLAUDE)];
    const init = `${system}\n${system}`;
    expect(read(`Warning\n${init}\n${result.slice(0, 30)}`, { adapter: 'claude' }).failure).toMatchObject({ class: 'network' });
    expect(read(`Warning\n${result.slice(0, 30)}`, { adapter: 'claude' }).failure).toMatchObject({ class: 'bad-reply' });
  });

  it('is text where nothing says that it is a reply, or it has another shape', () => {
    const text = warned(JSON.stringify(CLAUDE));
    expect(read(text)).toEqual({ adapter: 'text', text });
    expect(read(text, { commandLine: 'claude -p' })).toEqual({ adapter: 'text', text });
    expect(read(text, { adapter: 'text' })).toEqual({ adapter: 'text', text });
    expect(read(text, { adapter: 'openai' }).failure).toMatchObject({ class: 'bad-reply' });
    expect(read('so:\n{"a":1}\n{"b":2}', { adapter: 'claude' }).failure).toMatchObject({ class: 'bad-reply' });
  });
});

describe('the body of an error', () => {
  const message = 'Resource has been exhausted';
  it.each([
    [{ error: { message, type: 'insufficient_quota', param: null, code: 'insufficient_quota' } }, 'quota', undefined],
    [{ error: { message, type: null, param: null, code: null } }, 'crash', undefined],
    [{ error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details: [] } }, 'rate-limit', 429],
    [[{ error: { code: 503, message, status: 'UNAVAILABLE' } }], 'overloaded', 503],
    [{ error: { code: '429', message } }, 'rate-limit', 429],
    [{ error: { code: 502, message, metadata: {} }, user_id: 'u' }, 'overloaded', 502],
    [{ error: { code: 402, message } }, 'quota', 402],
    [{ error: { code: 400, message } }, 'crash', 400],
    [{ type: 'error', error: { type: 'overloaded_error', message }, request_id: 'r' }, 'overloaded', undefined],
    [{ id: 'nY', error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }, 'auth', undefined],
    [{ error: { code: 'content_filter', message, inner_error: {}, target: 'prompt' } }, 'content', undefined],
    [{ error: { message, type: 'server_error', object: 'error', provider_specific_fields: {} } }, 'overloaded', undefined],
    [{ id: 'g', provider: 'p', choices: [], error: { code: 502, message } }, 'overloaded', 502],
    [{ error: { code: 'DeploymentNotFound', message } }, 'crash', undefined],
    [{ object: 'error', message, type: 'rate_limited', param: null, code: '1300', raw_status_code: 429 }, 'rate-limit', 429],
    [{ object: 'error', message, type: 'invalid_request_error', param: null, code: null }, 'crash', undefined],
    [{ object: 'error', message, type: 'BadRequestError', param: null, code: 400 }, 'crash', 400],
    [{ object: 'error', message, type: 'insufficient_quota' }, 'quota', undefined],
  ])('%j has the class of its code, or of the HTTP status in it', (reply, failureClass, status) => {
    const text = Array.isArray(reply) ? JSON.stringify(reply) : reply;
    expect(read(text).failure).toEqual({ class: failureClass, evidence: 'envelope', message, ...(status && { status }) });
  });

  it.each([{ type: 'invalid_request_error', code: null }, { raw_status_code: 422 }])(
    'may tell what is wrong as an object, where %j says that it is an error',
    (more) => {
      const message = { detail: [{ loc: ['body'] }] };
      expect(read({ object: 'error', message, ...more }).failure).toMatchObject({ class: 'crash', message: JSON.stringify(message) });
    },
  );

  it.each([
    { error: { message: 'login failed', code: 'E42' }, severity: 'high' },
    { error: { message: 'login failed', code: 'E42' } },
    { error: { message: 'login failed', code: 500 }, advice: 'look at the pump' },
    { error: { message: 'login failed', code: null, line: 3 } },
    { error: null },
    { object: 'error', message: 'login failed', severity: 'high' },
    { object: 'error', message: { detail: 'login failed' } },
    { finding: { object: 'error', message: 'login failed', code: 500 } },
    { type: 'error', error: { type: 'syntax', message: 'no brace' } },
    { type: 'error', error: { type: 'parse_error', message: 'no brace' }, line: 3 },
  ])('%j is a result that tells of an error, unless the option says whose reply it is', (result) => {
    const text = JSON.stringify(result);
    expect(read(result)).toEqual({ adapter: 'text', text });
    expect(read(result, { commandLine: './ask.sh' })).toEqual({ adapter: 'text', text });
  });
});

it('takes the class from an error in what a failed command printed, whatever stands beside it', () => {
  const reply = { severity: 'high', error: { message: 'no', code: 503 } };
  expect(read(reply)).toMatchObject({ adapter: 'text' });
  expect(read(reply, {}, { exitCode: 1 }).failure).toMatchObject({ class: 'overloaded', evidence: 'envelope' });
  expect(read(reply, { commandLine: './ask.sh' }, { exitCode: 1 }).failure).toMatchObject({ class: 'overloaded' });
  const own = { object: 'error', message: 'no', code: 503, severity: 'high' };
  expect(read(own)).toMatchObject({ adapter: 'text' });
  expect(read(JSON.stringify([{ object: 'error', message: 'no', code: 503 }]))).not.toHaveProperty('failure');
  expect(read(own, {}, { exitCode: 1 }).failure).toMatchObject({ class: 'overloaded', evidence: 'envelope' });
  const body = JSON.stringify({ ...reply, error: { message: 'no', code: 'content_filter' } });
  expect(read(`HTTP/1.1 400 Bad Request\r\na: b\r\n\r\n${body}`).failure).toMatchObject({ class: 'content' });
});

describe('without a reply that is recognised', () => {
  it('takes the error output for what a model program said where it printed nothing, also beside a status of 0', () => {
    const stderr = "ERROR: You've hit your usage limit. Try again later.\n";
    const failure = { class: 'quota', evidence: 'text', message: stderr.trim() };
    for (const isText of [false, true]) {
      expect(read('\n', { commandLine: 'codex exec', isText }, { stderr }).failure).toEqual(failure);
      expect(read('calm', { commandLine: 'codex exec', isText }, { stderr }).failure).toBeUndefined();
    }
  });

  it('takes what a model program printed for a result, also where it begins as an HTTP reply does', () => {
    const text = 'HTTP/1.1 401 Unauthorized\nContent-Type: text/plain\n\nis how such a reply begins';
    for (const commandLine of [
      'claude -p "show me an HTTP reply"',
      'cat prompt.md | gemini',
      'claude -p --output-format json | jq -r .result',
    ])
      expect(read(text, { commandLine })).toEqual({ adapter: 'text', text });
    expect(read(text, { commandLine: 'curl -si http://localhost/' }).failure).toMatchObject({ class: 'auth', status: 401 });
  });

  it.each([
    'HTTP/1.1 401 Unauthorized is what a server sends when the key is wrong.\n',
    'HTTP/1.1 429 Too Many Requests\nmeans that you wait.\n',
    'HTTP/1.1 503 is one of them.\n\nAnother is 529.\n',
  ])('takes no sentence for an HTTP reply: %j', (text) => {
    expect(read(text, { commandLine: './ask.sh' })).toEqual({ adapter: 'text', text });
    expect(read(text, { adapter: 'text' }).failure).toBeUndefined();
  });

  it('passes over warnings of a model program that was told to print JSON', () => {
    const failed = JSON.stringify({ ...CLAUDE, is_error: true, api_error_status: 529, result: 'API Error: 529 Overloaded' });
    for (const commandLine of ['claude -p --output-format json', 'claude -p --output-format=stream-json --verbose x']) {
      expect(read(`Warning: update available\n${failed}`, { commandLine })).toMatchObject({
        adapter: 'claude',
        failure: { class: 'overloaded' },
        session: 's-1',
      });
    }
    expect(read(`So it says:\n${failed}`, { commandLine: 'claude -p "quote an envelope"' }).failure).toBeUndefined();
  });

  it('leaves the output as it is, also where it speaks of a rate limit', () => {
    expect(read('Too many requests: 429, they said.\n')).toEqual({ adapter: 'text', text: 'Too many requests: 429, they said.\n' });
  });

  it('knows the texts of a program that the command line names, also through a pipe', () => {
    const line = 'claude -p "x" | jq -r .result';
    expect(read("You've hit your session limit · resets 2am (UTC)\n", { commandLine: line }).failure).toMatchObject({
      class: 'quota',
      evidence: 'text',
    });
    expect(read(`You've hit your session limit ${'and '.repeat(200)}`, { commandLine: line }).failure).toBeUndefined();
  });

  it.each([
    ['HTTP 429 Too Many Requests', 'rate-limit', 'words'],
    ['server overloaded', 'overloaded', 'words'],
    ['connection refused', 'network', 'words'],
    ['401 Unauthorized: quota exceeded', 'crash', 'none'],
    ['42901 items', 'crash', 'none'],
  ])('lets words of a failed command speak for waiting and never for stopping: %s', (stderr, failureClass, evidence) => {
    expect(read('', { commandLine: 'ask.sh' }, { stderr, exitCode: 1 }).failure).toMatchObject({ class: failureClass, evidence });
  });

  it('fails for a status other than 0 although the envelope says success, and reads its usage', () => {
    expect(read({ ...CLAUDE, ...CLAUDE_USAGE }, {}, { exitCode: 1 })).toMatchObject({
      failure: { class: 'crash', evidence: 'none' },
      usage: { inputTokens: 1900 },
    });
  });
});

describe('with an adapter that was chosen', () => {
  it.each(['claude', 'codex', 'gemini', 'opencode'] as const)(
    'has a bad reply, and no cut stream, in one object that is none of its: %s',
    (adapter) => {
      expect(read('{"mark": 3}', { adapter }).failure).toMatchObject({ class: 'bad-reply' });
    },
  );

  it.each([
    ['a reply without an envelope', 'claude', 'Sure! Here it is', 'bad-reply'],
    ['an empty result', 'claude', { ...CLAUDE, result: ' ' }, 'bad-reply'],
    ['an empty output', 'text', ' \n', 'bad-reply'],
    ['a stream that is cut', 'codex', CODEX, 'network'],
  ] as const)('fails for %s', (_, adapter, stdout, failureClass) => {
    expect(read(stdout, { adapter }).failure).toMatchObject({ class: failureClass });
  });
});

describe('the model that a command line names', () => {
  it.each([
    ['codex exec --json -m gpt-5 "ebb"', 'gpt-5'],
    ['X=1 /usr/bin/claude --model=haiku -p ebb', 'haiku'],
    ["claude -p 'take --model b' --model 'a'", 'a'],
    ['cat x | claude -p --model "opus" | jq -m 3', 'opus'],
    ['claude -p "say --model x"', undefined],
    ['claude -p ebb | jq -m 3', undefined],
    ['curl -m 10 http://localhost', undefined],
    ['claude -p --model', undefined],
  ])('of %s is %s', (line, model) => {
    expect(modelOf(line)).toBe(model);
  });

  it('is that of the usage where the reply names none', () => {
    const commandLine = 'codex exec --json -m gpt-5 ebb';
    expect(read([...CODEX, CODEX_END], { commandLine }).usage).toMatchObject({ model: 'gpt-5', inputTokens: 2000 });
    expect(read({ ...CLAUDE, ...CLAUDE_USAGE }, { commandLine: 'claude --model opus -p ebb' }).usage).toMatchObject({
      model: 'claude-sonnet-4-5',
    });
  });
});

it('a known text is the result of a program whose output the option takes as it is', () => {
  const text = 'API Error: 529 is what the log says.';
  expect(read(text, { commandLine: 'claude -p' }).failure).toMatchObject({ class: 'overloaded' });
  expect(read(text, { commandLine: 'claude -p', adapter: 'text', isText: true })).toEqual({ adapter: 'text', text });
  expect(read(text, { commandLine: 'claude -p', adapter: 'text', isText: true }, { exitCode: 1 }).failure).toMatchObject({
    class: 'overloaded',
  });
});

it('a known text has the HTTP status that it names', () => {
  const commandLine = 'claude -p ebb | cat';
  expect(read('API Error: 429 {"type":"error"}', { commandLine }).failure).toMatchObject({
    class: 'rate-limit',
    evidence: 'text',
    status: 429,
  });
});

it('the cost of a claude that did not know its prices is estimated', () => {
  expect(read({ ...CLAUDE, ...CLAUDE_USAGE, costBasis: 'unknown' }).usage).toMatchObject({ costUsd: 0.0129, estimated: true });
  expect(read({ ...CLAUDE, total_cost_usd: 0.5, costBasis: 'list' }).usage).not.toHaveProperty('estimated');
});
