/**
 * Interprets a script as a process that takes one step for each event that its journal must have: a generator of what may happen next.
 * Most of the time that is one thing; in a parallel loop it is one for each item in flight, and the journal says which one it was.
 *
 * A step is a function, because an invocation decides when it happens to execute, to reuse, or to wait for the same call in flight.
 */
import { takesModel } from './render.js';
import { keyOf, type Question, type Result, type Trace, type Where } from './record.js';
import {
  DRAFTS,
  type Argument,
  type Call,
  type Functions,
  type Library,
  type Literal,
  type Part,
  type Script,
  type Width,
} from './script.js';

/** The event that would happen, or undefined while it has to wait. */
type Step = () => string | undefined;
export type Steps<Value> = Generator<readonly Step[], Value, number>;

/** The script ends here with an error. */
export class Failure extends Error {}

export interface Surroundings {
  readonly script: Script;
  readonly library: Library;
  readonly isRecording: boolean;
  /** Returns the result that an invocation reuses now. */
  known(key: string): Result | undefined;
  /** Executes a leaf; returns its result, or a `Failure`. */
  answer(name: string, tag: string, args: readonly Literal[]): string;
  completed(result: Result): void;
  show(text: string): void;
  readonly trace: Trace[];
}

interface Definition {
  readonly name: string;
  readonly declared: string;
  readonly isLlm: boolean;
  readonly body: (args: readonly Literal[], where: Where) => Steps<string>;
  readonly via?: (args: readonly Literal[]) => { readonly fn: string; readonly args: readonly Literal[] };
}

const TOP: Where = { calls: [], items: [] };

/** Runs the script; its result is the number of parts. Throws `Failure`. */
export function* interpret(around: Surroundings): Steps<void> {
  const { script, library, isRecording, trace } = around;
  const definitions = definitionsOf(script.functions);
  const reached = new Set<string>();
  const inFlight = new Set<string>();
  let numbers = 0;

  yield* checkpoint(library.checkpoint);
  let earlier: string | undefined;
  for (const [at, part] of script.parts.entries()) earlier = (yield* runPart(part, `part ${at}`)) ?? earlier;

  function* runPart(part: Part, site: string): Steps<string | undefined> {
    switch (part.kind) {
      case 'value': {
        const value = yield* call(part.call, site);
        around.show(value);
        return value;
      }
      case 'labelled': {
        const value = yield* call({ ...part, kind: 'asker' }, site, 'labelled');
        around.show(value);
        return value;
      }
      case 'show':
        around.show(yield* call(part.call, site));
        return undefined;
      case 'run':
        around.show(yield* call({ kind: 'asker', fn: 'ask', question: part.question, model: 'small' }, site));
        return undefined;
      case 'piped': {
        const value = yield* invoke(part.fn, [part.text, ...(part.fn === 'grade' ? [part.model] : [])], site, TOP);
        around.show(value);
        return value;
      }
      case 'retried': {
        let value = '';
        for (let attempt = 1; attempt <= DRAFTS; attempt++) value = yield* invoke('ask', [part.text], site, TOP, { attempt });
        around.show(value);
        return value;
      }
      case 'each':
        yield* loop('sequential', part.items, TOP, function* (item, where) {
          const value = yield* invoke(part.fn, withModel(part.fn, [item]), site, where);
          around.show(value);
          return value;
        });
        return undefined;
      case 'gathered': {
        const values = yield* loop(part.width, part.items, TOP, (item, where) => invoke(part.fn, withModel(part.fn, [item]), site, where));
        const value = values.join('+');
        around.show(value);
        return value;
      }
      case 'checkpoint':
        yield* checkpoint(part.form === 'not taken' ? undefined : part.name);
        return undefined;
    }
  }

  function* call(made: Call, site: string, how?: 'labelled'): Steps<string> {
    if (made.kind === 'survey') return yield* survey(made.items, site, TOP);
    const question = yield* argument(made.question, `${site} argument`);
    const args = [question, ...(takesModel(made.fn) ? [made.model] : [])];
    return yield* invoke(made.fn, args, site, TOP, { isLabelled: how === 'labelled' });
  }

  function* argument(given: Argument, site: string): Steps<Literal> {
    if (given.kind === 'literal') return given.value;
    if (given.kind === 'earlier') return earlier ?? 'nothing';
    return yield* invoke('ask', [given.of.value], site, TOP);
  }

  // ---- functions

  function definitionsOf(functions: Functions): { readonly [fn: string]: Definition } {
    const { askName, edition, isPollLlm, reviewer, reviewModel } = functions;
    const leaf = (name: string, tag: string, isLlm: boolean, declared = 'script'): Definition => ({
      name,
      declared: `${declared} ${name}`,
      isLlm,
      *body(args) {
        yield* []; // A leaf leaves no events of its own.
        return around.answer(name, tag, args);
      },
    });
    const forwarded = (args: readonly Literal[]): Literal[] => [...args, ...(reviewer === 'poll' ? [reviewModel] : [])];
    return {
      ask: leaf(askName, `${askName}${edition}`, true),
      grade: leaf('grade', 'grade', true),
      poll: leaf('poll', 'poll', isPollLlm),
      found: leaf(library.asker, 'lib', true, 'library'),
      review: {
        name: 'review',
        declared: 'script review',
        isLlm: true,
        body: (args, where) => invoke(reviewer, forwarded(args), 'in review', where),
        via: (args) => ({ fn: reviewer === 'ask' ? askName : 'poll', args: forwarded(args) }),
      },
      outer: {
        name: 'outer',
        declared: 'script outer',
        isLlm: true,
        *body(args, where) {
          return `outer ${yield* invoke('ask', args, 'in outer', where)}`;
        },
      },
      scan: {
        name: 'scan',
        declared: 'library scan',
        isLlm: false,
        *body(args, where) {
          return `scan ${yield* invoke('found', args, 'in scan', where)}`;
        },
      },
      round: {
        name: 'round',
        declared: 'script round',
        isLlm: false,
        *body([question = null], where) {
          const toured = yield* survey(['ebb', question], 'in round', where);
          return `${toured}+${yield* invoke('ask', [question], 'last in round', where)}`;
        },
      },
    };
  }

  function* survey(items: readonly Literal[], site: string, where: Where): Steps<string> {
    const { surveyName, surveyEdges, surveyWidth, surveyAsks, surveyPrefix } = script.functions;
    const inside = yield* enter(surveyName, 'script survey', site, where);
    const before = surveyEdges ? yield* invoke('ask', ['before'], 'before in survey', inside) : 'start';
    const each = yield* loop(surveyWidth, items, inside, (item, at) =>
      invoke(surveyAsks, [`${surveyPrefix}${textOf(item)}`], 'each in survey', at),
    );
    const after = surveyEdges ? yield* invoke('ask', ['after'], 'after in survey', inside) : 'end';
    return [before, ...each, after].join('+');
  }

  function* enter(fn: string, declared: string, site: string, where: Where): Steps<Where> {
    yield* happen(() => `call @${fn}${itemsOf(where)}`);
    const id = ++numbers;
    trace.push({ kind: 'call', id, fn, declared, site, where });
    return { ...where, calls: [...where.calls, id] };
  }

  function* invoke(
    fn: string,
    args: readonly Literal[],
    site: string,
    where: Where,
    { isLabelled = false, attempt = 1 }: { readonly isLabelled?: boolean; readonly attempt?: number } = {},
  ): Steps<string> {
    const { name, declared, isLlm, body, via } = definitions[fn] as Definition;
    if (!isLlm && !isLabelled) return yield* body(args, yield* enter(name, declared, site, where));
    const question = { fn: name, args, via: via?.(args), attempt: attempt > 1 ? attempt : undefined };
    return yield* ask(question, { declared, site, where }, () => body(args, where));
  }

  // ---- sections 2 and 5

  function* ask(
    question: Question,
    { declared, site, where }: { readonly declared: string; readonly site: string; readonly where: Where },
    body: () => Steps<string>,
  ): Steps<string> {
    if (!isRecording) return yield* body();
    const key = keyOf(question);
    const { fn, args } = question;
    const call = `${key.slice(0, 15)} @${fn}(${JSON.stringify(args).slice(1, -1)})${itemsOf(where)}`;
    let served: Result | undefined;
    yield* happen(() => {
      if (inFlight.has(key)) return undefined;
      served = around.known(key);
      return `${served ? 'served' : 'started'} ${call}`;
    });
    trace.push({ kind: 'ask', fn, declared, site, key, text: textOf(args[0] ?? null), where });
    if (served) {
      trace.push({ kind: 'used', key });
      return served.value;
    }
    inFlight.add(key);
    try {
      const value = yield* body();
      yield* happen(() => `completed ${call} ${value}`);
      trace.push({ kind: 'used', key });
      around.completed({ key, value });
      return value;
    } catch (error) {
      if (error instanceof Failure) yield* happen(() => `failed ${call}`);
      throw error;
    } finally {
      inFlight.delete(key);
    }
  }

  // ---- loops

  function* loop(
    width: Width,
    items: readonly Literal[],
    where: Where,
    body: (item: Literal, where: Where) => Steps<string>,
  ): Steps<string[]> {
    const id = ++numbers;
    const pass = function* (item: Literal, index: number): Steps<string> {
      const inside = { ...where, items: [...where.items, { loop: id, index }] };
      yield* happen(() => `item ${textOf(item)}${itemsOf(inside)}`);
      trace.push({ kind: 'item', loop: id, index, text: textOf(item), where });
      return yield* body(item, inside);
    };
    const [first, ...others] = items;
    if (first === undefined) return [];
    const values = [yield* pass(first, 0)];
    if (width === 'sequential') {
      for (const [at, item] of others.entries()) values.push(yield* pass(item, at + 1));
      return values;
    }
    const passes = others.map((item, at) => orFailed(pass(item, at + 1), `failed:${item}`));
    return [...values, ...(yield* together(passes, isRecording ? width : 1))];
  }

  // ---- section 9

  function* checkpoint(written: string | undefined): Steps<void> {
    const name = written?.trim();
    if (name === undefined) return;
    if (reached.has(name)) throw new Failure('CHECKPOINT_TWICE');
    reached.add(name);
    yield* happen(() => `checkpoint ${name}`);
    trace.push({ kind: 'checkpoint', name });
  }

  function* happen(step: Step): Steps<void> {
    if (isRecording) yield [step];
  }
}

/** A failing item of a parallel loop leaves a marker. */
function* orFailed(steps: Steps<string>, marker: string): Steps<string> {
  try {
    return yield* steps;
  } catch (error) {
    if (error instanceof Failure) return marker;
    throw error;
  }
}

/** Several processes at once, at most `width` of them: the next step is one of any. */
function* together(processes: readonly Steps<string>[], width: number): Steps<string[]> {
  const values: string[] = [];
  const waiting = [...processes.entries()];
  const active: { readonly at: number; readonly steps: Steps<string>; next: readonly Step[] }[] = [];
  for (;;) {
    while (active.length < width) {
      const [at, steps] = waiting.shift() ?? [];
      if (at === undefined || steps === undefined) break;
      const first = steps.next(0);
      if (first.done) values[at] = first.value;
      else active.push({ at, steps, next: first.value });
    }
    if (active.length === 0) return values;
    const choices = active.flatMap((one) => one.next.map((step, index) => ({ one, step, index })));
    const chosen = choices[yield choices.map(({ step }) => step)];
    if (chosen === undefined) throw new Error('no such step');
    const { one, index } = chosen;
    const result = one.steps.next(index);
    if (!result.done) one.next = result.value;
    else {
      values[one.at] = result.value;
      active.splice(active.indexOf(one), 1);
    }
  }
}

function withModel(fn: string, args: readonly Literal[]): readonly Literal[] {
  return takesModel(fn) ? [...args, 'small'] : args;
}

/** Strings as they are, other values as JSON. */
export function textOf(value: Literal): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Lists the items of loops, by number. */
function itemsOf({ items }: Where): string {
  return items.map(({ index }) => `[${index}]`).join('');
}
