/** Order, values and prefixes of hooks around one operation. */
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

async function shown(text: string): Promise<string[]> {
  const { shown: output, error } = await runScript(text);
  expect(error).toBeUndefined();
  return output.trimEnd().split('\n');
}

const TELL = 'exe @tell(x) = `t(@x)`\n';

describe('HOOK-1: order', () => {
  it('is that of registration, whatever the filters are', async () => {
    const lines = await shown(`exe net:w @send(x) = \`sent @x\`
hook before op:net:w = [ show "1 label of the operation" ]
hook before @send = [ show "2 function" ]
hook before net:w = [ show "3 label" ]
hook before op:exe = [ show "4 type" ]
hook after op:exe = [ show "5 type" ]
hook after @send = [ show "6 function" ]
show @send("x")`);
    expect(lines).toEqual([
      '1 label of the operation',
      '2 function',
      '3 label',
      '4 type',
      '5 type',
      '6 function',
      'sent x',
    ]); // prettier-ignore
  });

  it('runs a hook once for an operation that it matches in two ways', async () => {
    expect(await shown(`var hot,hot,cold @x = "a"\nhook before hot = [ show "h" ]\nvar hot,cold @y = "b"\nvar cold @z = "c"`)).toEqual([
      'h',
    ]);
  });

  it('leaves out hooks that are registered while the operation runs', async () => {
    const { shown: output } = await runScript('import { @one } from "./m.mld"\nimport { @two } from "./m.mld"\n', {
      files: {
        '/p/m.mld': 'hook before op:import = [ show "before" ]\nhook after op:import = [ show "after" ]\nvar @one = 1\nvar @two = 2\n',
      },
    });
    expect(output).toBe('before\nafter\n');
  });
});

describe('HOOK-2: prefixes', () => {
  it('are tested before any before-hook has run, and after against what the function received', async () => {
    const lines = await shown(`${TELL}hook before @tell = [ => "new" ]
hook before @tell("old") = [ show "before old" ]
hook before @tell("new") = [ show "before new" ]
hook after @tell("old") = [ show "after old" ]
hook after @tell("new") = [ show "after new" ]
show @tell("old")`);
    expect(lines).toEqual(['before old', 'after new', 't(new)']);
  });

  it.each([
    ['true', 'tr'],
    ['12', '1'],
    ['null', 'null'],
    ['[1,"a"]', '[1,"a'],
    ['{ k: 1 }', '{"k":1'],
  ])('sees %s as text that begins with %s', async (argument, prefix) => {
    const lines = await shown(`exe @f(x) = "f"\nhook before @f('${prefix}') = [ show "matches" ]\nshow @f(${argument})`);
    expect(lines).toEqual(['matches', 'f']);
  });
});

describe('what a before-hook returns', () => {
  it.each([
    ['an array by position', '=> ["p"]', 'p+2'],
    ['surplus elements dropped', '=> ["p", "q", "r"]', 'p+q'],
    ['anything else as the first argument', '=> "p"', 'p+2'],
    ['null as a value', '=> null', 'null+2'],
    ['a wrapped array as one argument', '=> [["a", "b"]]', '["a","b"]+2'],
    ['nothing', 'show "seen"', '1+2'],
    ['nothing for a bare arrow', '=>', '1+2'],
  ])('replaces arguments: %s', async (_what, body, expected) => {
    const lines = await shown(`exe @pair(a, b) = \`@a+@b\`\nhook before @pair = [\n  ${body}\n]\nshow @pair("1", "2")`);
    expect(lines.at(-1)).toBe(expected);
  });

  it('replaces the payload of effects, the bound value, the item, the input of a pass', async () => {
    const lines = await shown(`hook before op:show = [ => \`[@input]\` ]
hook before op:var = when [ @mx.op.name == "n" => @input + 1 ]
hook before op:for:iteration = [ => @input * 10 ]
hook before op:loop = when [ !@input => 5 ]
var @n = 1
show @n
var @r = for @i in [1, 2] => @i
show @r.join(" ")
loop(1) [ show \`pass @input\` ]`);
    expect(lines).toEqual(['[2]', '[10 20]', '[pass 5]']);
  });

  it.each(['run', 'import', 'for', 'for:batch'])('is seen by the next one and does nothing else: op:%s', async (kind) => {
    const { shown: output, error } = await runScript(
      `hook @a before op:${kind} = [ => "mine" ]
hook @b before op:${kind} = [ show \`next @input\` ]
exe @f(x) = \`f@x\`
import { @one } from "./m.mld"
run @f(1)
var @r = for parallel(2) @i in [1, 2] => @i
show @r.join(" ")`,
      { files: { '/p/m.mld': 'var @one = 1\n' } },
    );
    expect(error).toBeUndefined();
    expect(output).toContain('next mine');
    expect(output).toContain('f1');
    expect(output).toContain('1 2');
  });
});

describe('what an after-hook returns', () => {
  it('is nothing to those behind it where the operation was denied: they see the denial', async () => {
    const { shown: output } = await runScript(`exe @send(x) = \`sent @x\`
guard @no before @send = when [ * => deny "no" ]
hook after @send = [ => "replaced" ]
hook after @send = [ show \`@output.denied @output.reason\` ]
show @send("x")`);
    expect(output).toBe('true no\n');
  });

  it('replaces the output for the next one and for the caller', async () => {
    const lines = await shown(`${TELL}hook after @tell = [ => \`1@output\` ]
hook after @tell = [ show \`saw @output\` ]
hook after @tell = [ => \`2@output\` ]
var @r = @tell("x")
show @r`);
    expect(lines).toEqual(['saw 1t(x)', '21t(x)']);
  });

  it('carries the labels of what it replaces, of what it holds, and of the operation', async () => {
    const lines = await shown(`var secret @pin = "1"
var pii @owner = "Rosa"
exe slow @f(x) = \`f@x\`
hook after @f = [ => @owner ]
var @r = @f(@pin)
show @r.mx.labels.join(" ")`);
    expect(lines).toEqual(['secret slow pii']);
  });

  it('can not steer a loop, nor take an item back that a filter left out', async () => {
    const lines = await shown(`hook after op:loop = [ => "stop" ]
hook after op:for:iteration = [ => \`[@output]\` ]
var @n = loop(3) [
  when [ @input >= 2 => done @input; * => continue (@input ?? 0) + 1 ]
]
show @n
var @r = for @i in [1, 2, 3] when @i != 2 => @i
show @r.join(" ")`);
    expect(lines).toEqual(['2', '[1] [3]']);
  });

  it('of a call that ends a while with a word: replaces what the word carries', async () => {
    const lines = await shown(`exe @step(n) = when [ @n >= 2 => done \`at @n\`; * => continue @n + 1 ]
hook after @step = when [ @output == "at 2" => "replaced" ]
var @r = 0 | while(9) @step
show @r`);
    expect(lines).toEqual(['replaced']);
  });
});

describe('a body', () => {
  it('belongs to its file: no name of the place of the operation, and calls of the function that runs', async () => {
    const lines = await shown(`exe @inner(x) = \`in@x\`
exe @outer(x) = [
  let @mine = "local"
  show \`show of @x\`
  => @x
]
hook before op:show = [
  append \`@outer("h") @mine\` to "trail.txt"
]
show @outer("1")
hook after @inner = [ show @mx.op.name ]
show @inner("2")`);
    expect(lines).toContain('show of 1');
    expect(lines.at(-1)).toBe('in2');
  });

  it.each([
    ['a value', '@output => "v"', 'v'],
    ['a block that returns', '* => [ => "v" ]', 'v'],
    ['a block that does not', '* => [ let @y = 1 ]', 't(x)'],
    ['pass', '* => pass', 't(x)'],
    ['an effect', '* => log "e"', 't(x)'],
    ['no branch', 'false => "v"', 't(x)'],
    ['null', '* => null', 'null'],
  ])('that is a when returns the value of its branch: %s', async (_what, arm, expected) => {
    expect(await shown(`${TELL}hook after @tell = when [ ${arm} ]\nvar @r = @tell("x")\nshow \`@r\``)).toEqual([expected]);
  });

  it('sees the hooked operation throughout', async () => {
    const lines = await shown(`exe net:w @send(x) = \`sent @x\`
hook after @send = when [
  @mx.op.name == "send" => [
    if true [ show \`@mx.op.type @mx.op.name @mx.op.labels.join(",") @mx.for.index\` ]
  ]
]
for @i in ["a"] => @send(@i)`);
    expect(lines).toEqual(['exe send net:w 0', 'sent a']);
  });
});

describe('what is recorded', () => {
  it('is each firing with its filter, and what came of it', async () => {
    const { facts } = await runScript(
      `${TELL}hook @change after @tell("x") = [ => "c" ]\nhook @look before op:exe = [ let @y = 1 ]\nhook @bad before @tell = [ show @nowhere ]\nshow @tell("x")`,
      { records: true },
    );
    expect(facts.filter(({ type }) => type === 'hook.fired')).toEqual([
      { type: 'hook.fired', op: 'main/tell#0', hook: 'look', timing: 'before', filter: 'op:exe', transformed: false, elapsedMs: 0 },
      {
        type: 'hook.fired',
        op: 'main/tell#0',
        hook: 'bad',
        timing: 'before',
        filter: '@tell',
        transformed: false,
        elapsedMs: 0,
        error: 'Variable @nowhere is not defined',
        errorCode: 'UNKNOWN_VARIABLE',
      },
      { type: 'hook.fired', op: 'main/tell#0', hook: 'change', timing: 'after', filter: '@tell("x")', transformed: true, elapsedMs: 0 },
    ]);
  });

  it('keeps the paths of the operation as they are without hooks', async () => {
    const text = 'exe @f(x) = [ show `s@x`; show `t@x`; => @x ]\nvar @r = for @i in [1, 2] => @f(@i)\n';
    const hooks = 'hook before op:exe = [ show "h" ]\nhook after op:show = [ show "i" ]\n';
    const paths = async (script: string): Promise<string[]> =>
      (await runScript(script, { records: true })).facts.flatMap((fact) => (fact.type === 'op.started' ? [fact.op] : []));
    const plain = await paths(text);
    const hooked = await paths(hooks + text);
    expect(plain).toContain('main/for#0[1]/f#0/show#1');
    expect(hooked.filter((path) => !path.includes('/hook:'))).toEqual(plain);
  });
});
