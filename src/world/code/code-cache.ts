/**
 * Compiles bodies once per text, parameter names and shadow functions, because they are called often.
 *
 * The globals of a body (`console`, `process`, … and only if its text mentions the word) and the shadow functions are in a scope around
 * it, so that parameters and the body's own declarations hide them.
 */
import type { CodeHost } from './code-globals.js';
import { type Realm, type Timing, isBindable, resultBody } from './compile-code.js';
import { signalsDelivered, Watch } from '../process/interruptible.js';
import { bodyKind, placeInBody, placeOfSyntaxError, unclosedBracket, type BodyKind } from './place-in-body.js';
import { type CodePlace, type EffectRequest, type Deadline, type ShadowFunction, WorldError } from '../world.js';

type CodeRequest = EffectRequest<'code.run'>;
type Code = (...args: unknown[]) => unknown;

/** Returns a global of a call by its name. It is made when a body mentions it. */
export type CodeGlobals = (name: string) => unknown;

interface ShadowSet {
  readonly functions: readonly ShadowFunction[];
  readonly names: readonly string[];
  readonly mentioned: readonly string[];
  readonly make: (...globals: unknown[]) => readonly Code[];
  /** Kept when nothing that changes from call to call is mentioned. */
  readonly made: readonly Code[] | undefined;
}

interface Unit {
  /** The names of variables, then of parameters that were not passed: they distinguish variants of one text. */
  readonly names: readonly string[];
  readonly shadow: ShadowSet | undefined;
  readonly parameters: readonly string[];
  /** The globals that the body mentions. */
  readonly mentioned: readonly string[];
  readonly called: readonly number[];
  /** Makes the body's function from the globals and shadow functions that it mentions. */
  readonly make: (...around: unknown[]) => Code;
  /** Kept when there are none. */
  readonly made: Code | undefined;
  readonly watch: Watch;
  readonly kind: BodyKind | undefined;
}

export interface CodeCache {
  /**
   * Calls the body with native values. Throws what it throws, or a `WorldError` when it does not compile, or when it is interrupted.
   * `deadline` limits this call.
   */
  call(request: CodeRequest, globals: CodeGlobals, deadline?: Deadline): unknown;
  /** Returns where in the body an error was thrown that `call` threw; undefined where its stack does not say. */
  placeOf(request: CodeRequest, error: unknown): CodePlace | undefined;
}

export function createCodeCache(options: {
  readonly realm: () => Realm;
  /** The words that bodies may mention. */
  readonly ambient: readonly string[];
  readonly shadowTiming: Timing;
  readonly host: Pick<CodeHost, 'deadline' | 'checkOpen'>;
  /** Calls a body where its request wants it to be called. */
  readonly around?: (request: CodeRequest, body: () => unknown) => unknown;
}): CodeCache {
  const units = new Map<string, Unit[]>();
  const shadowSets: ShadowSet[] = [];

  function unitOf(request: CodeRequest): Unit {
    const names = Object.keys(request.variables);
    const shadow = shadowSetOf(request.shadow);
    let variants = units.get(request.code);
    if (!variants) units.set(request.code, (variants = []));
    for (let i = 0; i < variants.length; i++) {
      const known = variants[i] as Unit;
      if (known.shadow === shadow && isSame(known.names, names, request.unset)) return known;
    }
    const unit = compile(request, [...names, ...request.unset], shadow);
    variants.push(unit);
    return unit;
  }

  function compile({ code }: CodeRequest, names: readonly string[], shadow: ShadowSet | undefined): Unit {
    const realm = options.realm();
    const parameters = [...new Set(names)].filter((name) => isBindable(name, realm));
    const shadowNames = shadow?.names ?? [];
    const called = shadowNames.flatMap((name, i) => (code.includes(name) ? [i] : []));
    const mentioned = options.ambient.filter((word) => code.includes(word) && !shadowNames.includes(word));
    const around = [...mentioned, ...called.map((i) => shadowNames[i] as string)];
    let kind: BodyKind | undefined;
    const make = compiling(code, () => {
      const body = resultBody(code, parameters, 'async', realm);
      kind = called.length > 0 ? undefined : bodyKind(code, body, mentioned.length > 0);
      if (around.length > 0)
        return realm.make('sync', around, `return async function (${parameters.join(', ')}) {\n${body}\n}`) as Unit['make'];
      const run = realm.make('async', parameters, body) as Code;
      return () => run;
    });
    return {
      names,
      shadow,
      parameters,
      mentioned,
      called,
      make,
      made: around.length === 0 ? make() : undefined,
      watch: new Watch(),
      kind,
    };
  }

  function shadowSetOf(functions: readonly ShadowFunction[] | undefined): ShadowSet | undefined {
    if (functions === undefined || functions.length === 0) return undefined;
    for (const set of shadowSets) if (set.functions === functions || areSame(set.functions, functions)) return set;
    const set = compileShadow(functions, options.realm(), options.shadowTiming, options.ambient);
    shadowSets.push(set);
    return set;
  }

  return {
    call(request, globals, deadline) {
      const unit = unitOf(request);
      const run = unit.made ?? unit.make(...surroundings(unit, globals));
      const { variables } = request;
      const { parameters } = unit;
      const args: unknown[] = [];
      for (let i = 0; i < parameters.length; i++) {
        const name = parameters[i] as string;
        args.push(Object.hasOwn(variables, name) ? variables[name] : undefined);
      }
      const body = (): unknown => (options.around ? options.around(request, () => run(...args)) : run(...args));
      if (!deadline && !unit.watch.isOn) return body();
      const { host } = options;
      const deadlines = [deadline, host.deadline].filter((one) => one !== undefined);
      if (!unit.watch.isOn) return unit.watch.call(body, deadlines);
      return signalsDelivered().then(() => {
        host.checkOpen();
        return unit.watch.call(body, deadlines);
      });
    },
    placeOf(request, error) {
      if (error instanceof WorldError) return undefined; // it did not compile, or was interrupted
      const { kind } = unitOf(request);
      return kind && placeInBody(error, kind, request.code);
    },
  };
}

function surroundings({ mentioned, shadow, called }: Unit, globals: CodeGlobals): unknown[] {
  const values = mentioned.map(globals);
  if (!shadow || called.length === 0) return values;
  const functions = shadow.made ?? shadow.make(...shadow.mentioned.map(globals));
  return [...values, ...called.map((place) => functions[place])];
}

/** Compiles all functions of a set in one scope, so that they can call each other. */
function compileShadow(functions: readonly ShadowFunction[], realm: Realm, timing: Timing, ambient: readonly string[]): ShadowSet {
  const usable = functions.filter(({ name }) => isBindable(name, realm));
  const names = usable.map(({ name }) => name);
  const mentioned = ambient.filter((word) => !names.includes(word) && usable.some(({ code }) => code.includes(word)));
  const sources = usable.map(({ name, params, code }) => {
    const parameters = params.filter((param) => isBindable(param, realm));
    // Each body is compiled alone first: only then is it sure to stay inside its own braces.
    const { body, isAsync } = compiling(code, () => shadowBody(code, parameters, timing, realm), name);
    return `${isAsync ? 'async ' : ''}function ${name}(${parameters.join(', ')}) {\n${body}\n}`;
  });
  const make = compiling('', () =>
    realm.make('sync', mentioned, `${sources.join('\n')}\nreturn [${names.join(', ')}]`),
  ) as ShadowSet['make'];
  return { functions, names, mentioned, make, made: mentioned.length === 0 ? make() : undefined };
}

function shadowBody(code: string, parameters: readonly string[], timing: Timing, realm: Realm): { body: string; isAsync: boolean } {
  if (timing === 'async') return { body: resultBody(code, parameters, 'async', realm), isAsync: true };
  try {
    return { body: resultBody(code, parameters, 'sync', realm), isAsync: false };
  } catch (error) {
    // A function that awaits can be called too; its caller gets a promise.
    if (!code.includes('await')) throw error;
    return { body: resultBody(code, parameters, 'async', realm), isAsync: true };
  }
}

/** `name` is that of a shadow function, whose code is elsewhere. */
function compiling<T>(code: string, compile: () => T, name?: string): T {
  try {
    return compile();
  } catch (error) {
    const { message } = error as SyntaxError;
    if (name !== undefined) throw new WorldError('CODE_INVALID', `SyntaxError in ${name}: ${message}`, { cause: error });
    const unclosed = unclosedBracket(code);
    throw new WorldError('CODE_INVALID', `SyntaxError: ${message}${unclosed ? `: this \`${unclosed.bracket}\` is not closed` : ''}`, {
      cause: error,
      place: unclosed ?? placeOfSyntaxError(code),
    });
  }
}

function isSame(known: readonly string[], names: readonly string[], unset: readonly string[]): boolean {
  if (known.length !== names.length + unset.length) return false;
  for (let i = 0; i < names.length; i++) if (known[i] !== names[i]) return false;
  for (let i = 0; i < unset.length; i++) if (known[names.length + i] !== unset[i]) return false;
  return true;
}

function areSame(known: readonly ShadowFunction[], functions: readonly ShadowFunction[]): boolean {
  return (
    known.length === functions.length &&
    known.every((one, i) => {
      const other = functions[i] as ShadowFunction;
      return (
        one.name === other.name &&
        one.code === other.code &&
        one.params.length === other.params.length &&
        one.params.every((param, k) => param === other.params[k])
      );
    })
  );
}
