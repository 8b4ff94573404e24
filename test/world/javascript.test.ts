/** Bodies of `js` and `node`: parameters, results, shadow functions, console. Conformance: control.md 5.5, 5.6, 7. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openWorld } from './support.js';

const opened = openWorld();
const { world, js, node } = opened;
afterAll(() => world.close('done'));
const languages = [
  ['js', js],
  ['node', node],
] as const;

const fn = (name: string, params: readonly string[], code: string) => ({ name, params, code });

describe.each(languages)('an error in a %s body', (_, run) => {
  it.each<[string, string, { line: number; column: number } | undefined]>([
    ['with a return', 'const y = 1;\n\n  null.tide;\nreturn 2', { line: 3, column: 8 }],
    ['with a global', 'console.log(x)\nnull.tide;\nreturn 2', { line: 2, column: 6 }],
    ['that is an expression', ' x.tide.height', { line: 1, column: 9 }],
    ['without a return', 'let y = 1;\n{ y.a.b }\ny', { line: 2, column: 7 }],
    ['that awaits', 'await 1\nJSON.parse("{")\nreturn 1', { line: 2, column: 6 }],
    ['in a function of it', 'function f() {\n  throw new Error("x")\n}\nreturn f()', { line: 2, column: 9 }],
    ['that throws no error', 'const y = 1;\nthrow "tide"', undefined],
  ])('is at its line: %s', async (_what, code, place) => {
    const error: unknown = await run(code, { x: 4 }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CODE_THREW', place });
  });
});

it.each(['js', 'node'] as const)('does not begin a %s body after the world was closed', async (language) => {
  const other = openWorld();
  const called = other[language]('console.log("begun")', {}, { echo: true });
  const ended = expect(called).rejects.toMatchObject({ code: 'INTERRUPTED' });
  await other.world.close('done');
  await ended;
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(other.out.stdout).toBe('');
});

describe.each(languages)('the result of a %s body', (_, run) => {
  it.each<[string, string, unknown]>([
    ['return', 'return x + 1', 5],
    ['a return in one branch', 'if (x > 9) { return 1 }\nx', undefined],
    ['one expression', 'x * 2', 8],
    ['one expression with a semicolon and a comment', '  x * 2; // twice; as said', 8],
    ['one expression over lines', 'x\n  + 1\n  + 2', 7],
    ['a comma expression', 'x, x + 1', 5],
    ['the last expression statement', 'const y = x + 1;\ny * 3', 15],
    ['the last expression statement without semicolons', 'const y = x + 1\ny * 3', 15],
    ['the one before a declaration', 'twice(x)\nfunction twice(n) { return n * 2 }', 8],
    ['an object in parentheses', '({ doubled: x * 2 })', { doubled: 8 }],
    ['an object without parentheses', '{ doubled: x * 2, half: x / 2 }', { doubled: 8, half: 2 }],
    ['an object with one member', '{ doubled: x * 2 }', { doubled: 8 }],
    ['no expression', 'let y = 1;', undefined],
    ['a declaration alone', 'function f() { return 1 }', undefined],
    ['a class alone', '// about\nclass A {}', undefined],
    ['a branch', 'if (x > 3) { "more" } else { "less" }', 'more'],
    ['a loop', 'let s = 0; for (const n of [1, 2, x]) s += n', 7],
    ['a return in a function only', 'const f = (n) => { return n * 2 };\nf(x)', 8],
    ['the word return in a text', 'const s = "return 1";\ns', 'return 1'],
    ['the word return in a comment', '// return early\nx', 4],
    ['a template', 'const s = `a;\n${x}`;\ns', 'a;\n4'],
    ['nothing at all', '', undefined],
    ['a comment alone', '/* nothing */', undefined],
    ['null', 'return null', null],
    ['await and return', 'const v = await Promise.resolve(x * 2); return v + 1', 9],
    ['a promise', 'return new Promise((done) => setTimeout(() => done("got " + x), 5))', 'got 4'],
    ['a promise without return', 'Promise.resolve(x)', 4],
    ['one expression that awaits', 'await Promise.resolve(x) + 1', 5],
    ['await, then the last expression', 'const v = await Promise.resolve(x)\nv + 1', 5],
    ['await, last expression after a comment', 'const v = await Promise.resolve(x); // a; b\n// c; d\nv + 1; // e; f', 5],
    ['await, last expression goes on over lines', 'const v = await Promise.resolve([x])\nv\n  .map((n) => n + 1)\n  [0]', 5],
    ['await, a declaration that goes on over lines', 'const v = await Promise.resolve(x)\n  + 1', undefined],
    ['await, a bracket after a block', 'let v = 0\nif (await x) { v = 1 }\n[v, v]', [1, 1]],
    ['await, a bracket after a function', 'const f = async function () { await 0 }\n(x)', undefined],
    ['await, text with separators', 'const v = await "a;\\n}b"\n"x;y" + v', 'x;ya;\n}b'],
    ['await, a loop that awaits', 'let s = 0\nfor await (const n of [1, 2]) s += n\ns', 3],
    ['await, ends in a block', 'let s = 0\nfor (const n of [1, 2]) { s += await n }', undefined],
    ['await, a return in a function only', 'const f = async (n) => { return await n };\nawait f(x) * 2', 8],
    ['an increment after a line', 'let n = await x\n++n', 5],
    ['await in a comment only', '// no await here\nconst y = x\ny', 4],
  ])('%s', async (_name, code, value) => {
    expect(await run(code, { x: 4 })).toEqual(value);
  });
});

describe.each(languages)('%s', (language, run) => {
  it('passes native values, and undefined for what was not passed', async () => {
    const code = 'return [typeof s, typeof n, typeof b, o === null, Array.isArray(l), d.a.b, typeof missing]';
    const variables = { s: 'a', n: 1.5, b: true, o: null, l: [1], d: { a: { b: 2 } } };
    expect(await run(code, variables, { unset: ['missing'] })).toEqual(['string', 'number', 'boolean', true, true, 2, 'undefined']);
    expect(await run('return typeof constructor', {}, { unset: ['constructor'] })).toBe('undefined');
  });

  it('keeps bodies of one text and other parameters apart', async () => {
    const code = 'return typeof a + typeof b';
    expect(await run(code, { a: 1, b: 'x' })).toBe('numberstring');
    expect(await run(code, { b: 'x', a: 1 })).toBe('numberstring');
    expect(await run(code, { a: 1 })).toBe('numberundefined');
    expect(await run(code, { a: 1 }, { unset: ['b'] })).toBe('numberundefined');
  });

  it('leaves out parameters that no name of JavaScript can be', async () => {
    expect(await run('return ok', { 'night-watch': 1, class: 2, await: 3, ok: 4 })).toBe(4);
  });

  it('is closed: sees its parameters and nothing of ours', async () => {
    expect(await run('return [typeof request, typeof unit, typeof variables, typeof exports, typeof surroundings]')).toEqual(
      Array(5).fill('undefined'),
    );
  });

  it('ends a body that writes without end', async () => {
    await expect(run('for (;;) console.log("y".repeat(1_000_000))')).rejects.toMatchObject({ code: 'OUTPUT_TOO_LARGE' });
  });

  it('captures console.log per call, also when calls overlap', async () => {
    const code = 'console.log("a", n); await new Promise((done) => setTimeout(done, 5)); console.log("b", n)';
    const asked = [1, 2, 3].map((n) => world.perform('code.run', { language, code, variables: { n }, unset: [], echo: false }));
    expect((await Promise.all(asked)).map(({ log }) => log)).toEqual(['a 1\nb 1\n', 'a 2\nb 2\n', 'a 3\nb 3\n']);
  });

  it('echoes the log when requested, sends errors to standard error, formats like Node', async () => {
    const own = openWorld();
    const code =
      'const { log } = console; log({ a: [1] }); [1].forEach((x) => console.info("%d!", x)); console.error("bad"); console.table([])';
    const { log, value } = await own.world.perform('code.run', { language, code, variables: {}, unset: [], echo: true });
    expect(value).toBeUndefined();
    expect(log).toMatch(/^\{ a: \[ 1 \] \}\n1!\n/);
    expect(own.out).toEqual({ stdout: log, stderr: 'bad\n' });
    await own.world.close('done');
  });

  it('reports what was thrown: its message unchanged, and the cause', async () => {
    const error = await run('throw new RangeError("no tide: 7")').catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'WorldError', code: 'CODE_THREW', message: 'no tide: 7', cause: { name: 'RangeError' } });
    await expect(run('throw "plain"')).rejects.toThrow('plain');
    await expect(run('throw { a: 1 }')).rejects.toThrow('{"a":1}');
    await expect(run('return Promise.reject(new Error("late"))')).rejects.toThrow('late');
    await expect(run('nope()')).rejects.toThrow('nope is not defined');
  });

  it('names a syntax error', async () => {
    await expect(run('return (')).rejects.toMatchObject({
      code: 'CODE_INVALID',
      message: expect.stringContaining('SyntaxError') as string,
    });
    await expect(run('}, function () {')).rejects.toMatchObject({ code: 'CODE_INVALID' });
  });

  it('lets a body declare what would otherwise surround it', async () => {
    const shadow = [fn('dbl', ['n'], 'return n * 2')];
    expect(
      await run(
        'const process = 1, console = 2, dbl = 3, require = 4, mlld = 5; return process + console + dbl + require + mlld',
        {},
        { shadow },
      ),
    ).toBe(15);
    expect(await run('return dbl + console', { dbl: 'a', console: 'b' }, { shadow })).toBe('ab');
  });

  it('refuses to end the run', async () => {
    await expect(run('process.exit(3)')).rejects.toThrow('process.exit');
    await expect(run('process.abort()')).rejects.toThrow('process.abort');
  });

  it('has the environment of the world and the working directory of the call', async () => {
    const own = openWorld({ environment: { SHIP: 'gull' } });
    const { value } = await own.world.perform('code.run', {
      language,
      code: 'process.env.PORT = 7; return [process.env.SHIP, process.env.HOME, process.cwd()]',
      directory: '/',
      variables: {},
      unset: [],
      echo: false,
    });
    expect(value).toEqual(['gull', undefined, '/']);
    expect(await own.world.perform('env.read', { names: ['PORT'], prefixes: ['SH'] })).toEqual({ values: { PORT: '7', SHIP: 'gull' } });
    await own.world.close('done');
  });

  it('has the rest of process as it is', async () => {
    const code =
      'const t = process.hrtime.bigint(); process.once("mlld-test", () => {}); process.removeAllListeners("mlld-test"); process.emit("none"); await new Promise((done) => process.nextTick(done)); return [typeof t, process.version, process.memoryUsage().rss > 0, process.uptime() > 0, Array.isArray(process.argv), process.hrtime().length]';
    expect(await run(code)).toEqual(['bigint', process.version, true, true, true, 2]);
  });

  it('tells a body about its call', async () => {
    expect(await run('return [mlld.language, mlld.unset]', {}, { unset: ['a'] })).toEqual([language, ['a']]);
  });
});

describe('shadow functions', () => {
  const shadow = [
    fn('dbl', ['n'], 'return n * 2'),
    fn('cap', ['s'], 's[0].toUpperCase() + s.slice(1)'),
    fn('both', ['n'], 'return cap("hull") + dbl(dbl(n))'),
  ];

  it('are synchronous in js and call each other', async () => {
    expect(await js('return both(x) + ":" + dbl(5)', { x: 3 }, { shadow })).toBe('Hull12:10');
    expect(await js('cap("riga") + dbl(5)', {}, { shadow })).toBe('Riga10');
  });

  it('are asynchronous in node', async () => {
    expect(await node('return [dbl(2) instanceof Promise, await dbl(2)]', {}, { shadow: shadow.slice(0, 1) })).toEqual([true, 4]);
    expect(await node('return await plus(1)', {}, { shadow: [...shadow, fn('plus', ['n'], 'return await dbl(n) + 1')] })).toBe(3);
  });

  it('are hidden by a parameter of the same name, not from each other', async () => {
    expect(await js('return dbl + both(1)', { dbl: 'mine ' }, { shadow })).toBe('mine Hull4');
  });

  it('are another set after another declaration', async () => {
    const other = [fn('dbl', ['n'], 'return n + n + 1')];
    expect(await js('return dbl(2)', {}, { shadow })).toBe(4);
    expect(await js('return dbl(2)', {}, { shadow: other })).toBe(5);
    expect(await js('return typeof dbl')).toBe('undefined');
  });

  it('write to the log of the call they are called in', async () => {
    const set = [fn('say', ['n'], 'console.log("say", n)')];
    const asked = [1, 2].map((n) =>
      world.perform('code.run', {
        language: 'js',
        code: 'say(n); await null; say(n)',
        variables: { n },
        unset: [],
        shadow: set,
        echo: false,
      }),
    );
    expect((await Promise.all(asked)).map(({ log }) => log)).toEqual(['say 1\nsay 1\n', 'say 2\nsay 2\n']);
  });

  it('that await give a promise in js', async () => {
    expect(await js('return await later(2)', {}, { shadow: [fn('later', ['n'], 'const v = await n; return v + 1')] })).toBe(3);
  });

  it('are named when they do not compile', async () => {
    await expect(js('1', {}, { shadow: [fn('broken', [], 'return (')] })).rejects.toMatchObject({
      code: 'CODE_INVALID',
      message: expect.stringContaining('broken') as string,
    });
  });
});

it('js has no require', async () => {
  expect(await js('return typeof require')).toBe('undefined');
  await expect(js('return require("fs")')).rejects.toThrow('require');
});

it.each(['js', 'node'] as const)(
  'breaks into busy %s code at its deadline, also where it was fast before, and says so to who set it',
  async (language) => {
    const ask = (x: number, endMs: number, expired: () => void) =>
      world.perform(
        'code.run',
        { language, code: 'while (x > 1) {} return x', unset: [], echo: false, variables: { x } },
        { deadline: { leftMs: () => endMs - performance.now(), expire: expired } },
      );
    for (const x of [0, 1]) expect((await ask(x, performance.now() + 60_000, expect.fail)).value).toBe(x);
    let wasPast: boolean | undefined;
    const endMs = performance.now() + 50;
    const asked = ask(2, endMs, () => (wasPast = performance.now() >= endMs));
    await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(wasPast).toBe(true);
  },
);
