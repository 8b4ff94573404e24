/**
 * Defines the globals of a script inside its realm. The text is code of the realm, and so are all functions and errors that a script sees.
 *
 * BOOT-1  It takes the functions that it calls before the script runs, and keeps its own state in objects without a prototype: a script
 *    that changes built-in objects changes only what it sees itself, and gets hold of neither `ask` nor `enter`.
 * BOOT-2  Only JSON texts cross. An answer is a list: `[0]` and a value that may be missing, or `[1, type, message]`.
 */
import { withClock } from './clock.js';

export const NOT_HERE = ' is not available in a workflow script: an agent does what needs files, programs or the network';

const CORE = String.raw`
  const { parse, stringify } = JSON;
  const { create, defineProperty, freeze, getOwnPropertyDescriptor } = Object;
  const { isArray } = Array;
  const { apply } = Reflect;
  const { indexOf, slice } = String.prototype;
  const P = Promise, TE = TypeError, RE = RangeError;
  const ERRORS = { __proto__: null, Error, TypeError, RangeError, ReferenceError, EvalError, SyntaxError };
  const { Error: E } = ERRORS;
  const text = String;
  const pending = create(null);
  const timers = create(null);

  const exhausted = () => new RE('Maximum call stack size exceeded');
  const request = (name, value) => {
    let answer;
    try { answer = ask(name, value); } catch { throw exhausted(); }
    return answer;
  };
  const errorOf = (name, message) => new (ERRORS[name] ?? E)(message);
  /** Throws the refusal in an answer, or returns its value. */
  const answered = (answer) => {
    const list = parse(answer);
    if (list[0] === 1) throw errorOf(list[1], list[2]);
    return list.length > 1 ? list[1] : undefined;
  };
  /** A list of this program as JSON, also if the script gave all objects a toJSON or descriptors a get. */
  const encoded = (list) => {
    defineProperty(list, 'toJSON', { __proto__: null, value: undefined });
    return stringify(list);
  };
  const now = (name, ...values) => answered(request(name, encoded(values)));
  /** What the host answers later: its answer of now is the id of that. With a stack, an error that it answers has the place of the call. */
  const later = (name, values, stack) => new P((resolve, reject) => {
    pending[answered(request(name, encoded(values)))] = { __proto__: null, resolve, reject, stack };
  });
  const calledAt = (error, stack) => {
    const value = error.name + ': ' + error.message + apply(slice, stack, [apply(indexOf, stack, ['\n'])]);
    return defineProperty(error, 'stack', { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  /** A result that the script does not look at may fail. */
  const quiet = async (promise) => { try { await promise; } catch {} };
  const quietly = (work) => (...values) => { const promise = work(...values); void quiet(promise); return promise; };
  const take = (id, answer) => {
    if (answer === undefined) {
      const fire = timers[id];
      delete timers[id];
      if (fire) fire();
      return;
    }
    const waiting = pending[id];
    delete pending[id];
    if (!waiting) return;
    let value;
    try { value = answered(answer); } catch (error) { waiting.reject(waiting.stack ? calledAt(error, waiting.stack) : error); return; }
    waiting.resolve(value);
  };
  const within = (branch, work) => {
    let result;
    try { enter(branch, () => { result = work(); }); } catch { throw exhausted(); }
    return result;
  };

  /** The message and the stack as texts, whatever was thrown. */
  const told = (thrown) => {
    let name = '', message, stack = '';
    try {
      if (typeof thrown === 'object' && thrown !== null) {
        name = text(thrown.name ?? '');
        message = text(thrown.message ?? stringify(thrown));
        stack = text(thrown.stack ?? '');
      } else message = text(thrown);
    } catch { message = 'an error that can not be shown'; }
    return [name, message, stack];
  };
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof E) return text(value.stack ?? value.message);
    try { return stringify(value) ?? text(value); } catch { return text(value); }
  };
  const line = (values) => {
    let all = '';
    for (let i = 0; i < values.length; i++) all += (i === 0 ? '' : ' ') + shown(values[i]);
    now('log', all);
  };

  const agent = async (prompt, options) => {
    if (typeof prompt !== 'string') throw new TE('agent(prompt, options?): the prompt must be a text');
    if (options !== undefined && (typeof options !== 'object' || options === null || isArray(options)))
      throw new TE('agent(prompt, options?): the options must be an object');
    const { stack } = new E('');
    return later('agent', [prompt, options ?? create(null), stack], stack);
  };

  const put = (list, i, value) => defineProperty(list, i, { __proto__: null, value, writable: true, enumerable: true, configurable: true });

  const listOf = (items, name) => {
    if (!isArray(items)) throw new TE(name + '() takes a list, and not ' + (items === null ? 'null' : typeof items));
    if (items.length > 4096) throw new RE(name + '() takes at most 4096 items, and not ' + items.length);
    const copy = [];
    for (let i = 0; i < items.length; i++) put(copy, i, items[i]);
    return copy;
  };
  const wanted = (value) => value instanceof P ? 'a promise: what it stands for has begun already' : typeof value;
  const lost = (error, group, name, i, list) =>
    now('itemLost', group, i, name + '(), item ' + (i + 1) + ' of ' + list.length, ...told(error));

  /** Does the work for each element in a branch of its own, and waits for all. */
  const branching = async (name, list, work) => {
    const [group, branches] = await later('group', [name, list.length]);
    const results = [];
    const running = [];
    for (let i = 0; i < list.length; i++) {
      put(results, i, null);
      if (branches[i] !== null) put(running, running.length, within(branches[i], async () => {
        try { put(results, i, await work(list[i], i, branches[i])); } catch (error) { lost(error, group, name, i, list); return; }
        now('itemEnd', group, i);
      }));
    }
    for (let i = 0; i < running.length; i++) await running[i];
    const denied = await later('groupEnd', [group]);
    for (let i = 0; i < denied.length; i++) put(results, denied[i], null);
    return results;
  };

  const refuseOthers = (list, what, first, hint) => {
    for (let i = 0; i < list.length; i++)
      if (typeof list[i] !== 'function') throw new TE(what + ' ' + (first + i) + ' is ' + wanted(list[i]) + ': write ' + hint);
  };
  const parallel = async (thunks) => {
    const list = listOf(thunks, 'parallel');
    refuseOthers(list, 'parallel() takes functions, and element', 0, '() => agent(…)');
    return branching('parallel', list, (thunk) => thunk());
  };

  const pipeline = async (items, ...stages) => {
    const list = listOf(items, 'pipeline');
    refuseOthers(stages, 'pipeline() takes functions as stages, and stage', 1, '(previous, item, index) => agent(…)');
    return branching('pipeline', list, async (item, i, branch) => {
      let value = item;
      for (let s = 0; s < stages.length; s++) {
        const stage = stages[s];
        value = await within(now('stage', branch, s), async () => stage(value, item, i));
      }
      return value;
    });
  };

  const workflow = async (ref, input) => {
    if (typeof ref !== 'string' && !(typeof ref === 'object' && ref !== null && typeof ref.scriptPath === 'string'))
      throw new TE('workflow(ref, args?): ref is a name, or { scriptPath: PATH }');
    return later('workflow', input === undefined ? [ref] : [ref, input], new E('').stack);
  };
  const phase = (title) => { now('phase', text(title)); };
  const log = (...values) => line(values);

  let timerCount = 0;
  const setTimer = (work, ms, ...args) => {
    if (typeof work !== 'function') throw new TE('setTimeout() takes a function');
    const id = ++timerCount;
    timers[id] = () => work(...args);
    now('timer', id, +ms || 0);
    return id;
  };
  const clearTimer = (id) => { delete timers[id]; now('untimer', +id || 0); };

  const clone = (value, met = new Map()) => {
    if (typeof value === 'function' || typeof value === 'symbol') throw new E(text(value) + ' could not be cloned');
    if (typeof value !== 'object' || value === null) return value;
    if (met.has(value)) return met.get(value);
    const keep = (copy) => { met.set(value, copy); return copy; };
    if (isArray(value)) {
      const copy = keep([]);
      for (let i = 0; i < value.length; i++) if (i in value) copy[i] = clone(value[i], met);
      copy.length = value.length;
      return copy;
    }
    if (value instanceof Date) return keep(new Date(+value));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, member] of value) copy.set(clone(key, met), clone(member, met));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const member of value) copy.add(clone(member, met));
      return copy;
    }
    if (value instanceof E) {
      const copy = keep(errorOf(value.name, value.message));
      defineProperty(copy, 'stack', { value: value.stack, writable: true, configurable: true });
      return copy;
    }
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return keep(value.slice());
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    const copy = keep({});
    for (const key of Object.keys(value))
      put(copy, key, clone(value[key], met));
    return copy;
  };

  const define = (name, value) => defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'Temporal']) delete globalThis[name];
  const ReferenceE = ReferenceError;
  const [input, total, importName] = now('setup');
  define(importName, async () => { throw new ReferenceE('import()${NOT_HERE}'); });
  define('agent', quietly(agent));
  define('parallel', quietly(parallel));
  define('pipeline', quietly(pipeline));
  define('phase', phase);
  define('log', log);
  define('workflow', quietly(workflow));
  define('args', input === null ? undefined : input[0]);
  define('budget', freeze({
    total,
    spent: () => now('spent'),
    remaining: () => { if (total === null) return Infinity; const left = total - now('spent'); return left > 0 ? left : 0; },
  }));
  const lines = (...values) => line(values);
  define('console', { log: lines, info: lines, debug: lines, warn: lines, error: lines });
  define('setTimeout', setTimer);
  define('clearTimeout', clearTimer);
  define('structuredClone', (value) => clone(value));
  // A script that replaced them would see how errors of this program are made.
  defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
  Error.stackTraceLimit = 30;
  defineProperty(globalThis, 'Error', { value: Error, writable: false, enumerable: false, configurable: false });
`;

const END = String.raw`
  const written = (value) => {
    if (value === undefined) return undefined;
    if (typeof value === 'function') throw new TE('the result of a script is data, and not a function');
    try { return encoded([value]); } catch (error) {
      const message = told(error)[1] + '\n';
      throw new TE('the result of a script must be JSON: ' + apply(slice, message, [0, apply(indexOf, message, ['\n'])]));
    }
  };
  const start = async (body) => {
    let result;
    try { result = written(await body()); } catch (error) { now('failed', ...told(error)); return; }
    if (result === undefined) now('done');
    else now('done', result);
  };
  return { __proto__: null, 0: take, 1: (body) => void start(body) };
`;

export const BOOTSTRAP = `(function (ask, enter) { 'use strict';${CORE}${withClock}${END}})`;
