/** The guards around one operation: which of them are evaluated, and the effect of their decisions. instrumentation.md 4. */
import { describe, expect, it } from 'vitest';
import { Denial } from '../../src/runtime/denial.js';
import type { EffectRequest } from '../../src/world/world.js';
import { FakeWorld } from '../support/fake-world.js';
import { runScript } from '../support/in-fake-world.js';

const SEND = 'exe net:w @send(to, body) = `sent @to @body`\nvar secret @pin = "4411"\nvar pii @owner = "Rosa"\n';

async function shown(text: string): Promise<string[]> {
  const { shown: output, error } = await runScript(text);
  expect(error).toBeUndefined();
  return output.trimEnd().split('\n');
}

describe('the guards that are evaluated', () => {
  it('first by the labels of each input, then by the operation, in the order of declaration', async () => {
    const { facts } = await runScript(
      `${SEND}guard @byName before @send = when [ * => allow ]
guard @byLabel before secret = when [ * => allow ]
guard @byPii before pii = when [ * => allow ]
guard @byOpLabel before op:net:w = when [ * => allow ]
guard @byOperationLabel before net:w = when [ * => allow ]
guard @byType before op:exe = when [ * => allow ]
guard @other before op:show = when [ * => allow ]
var @r = @send(@owner, @pin)`,
      { records: true },
    );
    const evaluated = facts.flatMap((fact) =>
      fact.type === 'guard.decided' && fact.op === 'main/send#0' ? [`${fact.guard} ${fact.filter}`] : [],
    );
    expect(evaluated).toEqual([
      'byPii data:pii',
      'byLabel data:secret',
      'byName function:send',
      'byOpLabel operation:net:w',
      'byOperationLabel data:net:w',
      'byType operation:exe',
    ]);
  });

  it('once for each labelled input, with that input', async () => {
    const lines = await shown(`${SEND}guard before secret = when [ @mx.op.type == "exe" => allow \`(@input)\` ]
var @r = @send(@pin, @pin)
show @r`);
    expect(lines).toEqual(['sent (4411) (4411)']);
  });

  it('by the language of a body', async () => {
    const { error } = await runScript(`exe @list() = sh { ls }\nguard @noShell before op:sh = when [ * => deny "no shell" ]\nshow @list()`);
    expect(error).toBeInstanceOf(Denial);
    expect((error as Denial).facts).toMatchObject({
      guardName: '@noShell',
      guardFilter: 'operation:sh',
      reason: 'no shell',
      timing: 'before',
    });
  });

  it('not those that are registered while the operation runs', async () => {
    const { error, shown: output } = await runScript('import { @one } from "./m.mld"\nshow @one\nimport { @two } from "./m.mld"', {
      files: { '/p/m.mld': 'guard @door always op:import = when [ * => deny "shut" ]\nvar @one = 1\nvar @two = 2\n' },
    });
    expect(output).toBe('1\n');
    expect(error).toBeInstanceOf(Denial);
  });

  it.each([
    ['false', 'f(x)'],
    ['{ only: ["@b"] }', 'f(bx)'],
    ['{ except: ["@b"] }', 'f(ax)'],
    ['{ only: ["a"] }', 'f(ax)'],
  ])('not those that a call switches off: guards: %s', async (guards, expected) => {
    const lines = await shown(`exe @f(x) = \`f(@x)\`
guard @a before @f = when [ * => allow \`a@input[0]\` ]
guard @b before @f = when [ @input[0] == "x" => allow \`b@input[0]\` ]
show @f("x") with { guards: ${guards} }`);
    expect(lines).toEqual([expected]);
  });
});

describe('what they see', () => {
  it.each([
    ['@input.any.mx.labels.includes("secret")', true],
    ['@input.any.mx.labels.includes("cold")', false],
    ['@input.all.mx.labels.includes("secret")', false],
    ['@input.none.mx.labels.includes("cold")', true],
    ['@input.none.mx.labels.includes("secret")', false],
    ['@input.any.mx.taint.includes("secret")', true],
    ['@input.any.text.includes("44")', true],
    ['@input.all.text.includes("4")', false],
    ['@input.none.text.includes("99")', true],
    ['@input.mx.labels.includes("secret")', true],
    ['@mx.labels.includes("secret")', true],
    ['@mx.args.body == "4411"', true],
    ['@mx.args["to"] == "rival"', true],
    ['@mx.args.names.join(",") == "to,body"', true],
    ['@mx.args.body.mx.labels.includes("secret")', true],
    ['@input.length == 2', true],
    ['@mx.guard.try == 1', true],
    ['@mx.guard.timing == "before"', true],
    ['@mx.guard.name == "g" && @mx.guard.filter == "function:send"', true],
    ['@mx.op.name == "send" && @mx.op.labels.includes("net:w")', true],
  ])('%s is %s', async (condition, expected) => {
    const { run } = await runScript(`${SEND}guard @g before @send = when [ ${condition} => deny "holds" ]\nvar @r = @send("rival", @pin)`);
    expect(run.denials).toHaveLength(expected ? 1 : 0);
  });

  it('the inputs as plain data: the tests do not show', async () => {
    const lines = await shown(`exe @f(a, b) = "f"
guard before @f = when [
  let @seen = \`@input\`
  @seen == '["1",{"k":2}]' => allow "seen"
]
hook after @f = [ show @input.length ]
show @f("1", { k: 2 })`);
    expect(lines).toEqual(['2', 'f']);
  });
});

describe('GUARD-1, GUARD-2: composition', () => {
  it('evaluates all, the first denial gives the reason, deny beats retry beats allow', async () => {
    const { error } = await runScript(`exe @f(x) = @x
guard @again before @f = when [ * => retry "once more" ]
guard @one before @f = when [ * => deny "first" ]
guard @yes before @f = when [ * => allow ]
guard before op:exe = when [ * => deny "second" ]
show @f("x")`);
    expect((error as Denial).facts).toMatchObject({ guardName: '@one', reason: 'first', reasons: ['first', 'second'] });
  });

  it('takes the first rule that holds, and allows when none does', async () => {
    const lines = await shown(`exe @f(x) = @x
guard before @f = when [
  @input[0] == "a" => allow "first"
  @input[0] == "a" => deny "second"
]
show @f("a")
show @f("b")`);
    expect(lines).toEqual(['first', 'b']);
  });

  it('GUARD-3: chains what is allowed instead, keeps the other inputs and all labels', async () => {
    const lines = await shown(`${SEND}guard before @send = when [ * => allow \`1@input[0]\` ]
guard before @send = when [ * => allow \`2@input[0]\` ]
guard after @send = when [ * => allow "masked" ]
hook after @send = [ show \`@input[0] @input[1]\` ]
var @r = @send(@pin, "b")
show @r
show @r.mx.labels.join(" ")`);
    // Hooks see what came before the guards.
    expect(lines).toEqual(['4411 b', 'masked', 'secret net:w']);
  });

  it('replaces the payload of an effect', async () => {
    const { shown: output, world } = await runScript(`guard before op:show = when [ @input[0] == "raw" => allow "masked" ]
guard before op:append = when [ * => allow "line" ]
show "raw"
append "x" to "a.txt"`);
    expect(output).toBe('masked\n');
    expect(world.files.get('/p/a.txt')).toBe('line\n');
  });

  it('replaces the command of a run', async () => {
    class EchoingWorld extends FakeWorld {
      override perform: FakeWorld['perform'] = async (question, request) => {
        if (question !== 'command.run') return FakeWorld.prototype.perform.call(this, question, request) as never;
        return { stdout: `ran ${(request as EffectRequest<'command.run'>).code.trim()}`, stderr: '', exitCode: 0, durationMs: 0 } as never;
      };
    }
    const script = 'guard before op:run = when [ @input[0] == "rm all" => allow "ls" ]\nrun cmd { rm all }\nrun cmd { pwd }';
    const { shown: output } = await runScript(script, { world: new EchoingWorld() });
    expect(output).toBe('ran ls\nran pwd\n');
  });

  it('an error in a condition stops the operation', async () => {
    const { shown: output, error } = await runScript('guard before op:show = when [ @input.nowhere() => allow ]\nshow "x"');
    expect(output).toBe('');
    expect(error?.message).toContain('nowhere');
    expect(error?.location?.text.slice(error.location.at)).toMatch(/^\.nowhere/);
  });
});

describe('denials', () => {
  it('are handled by the nearest function with a denied branch, the denied one included', async () => {
    const {
      shown: output,
      warnings,
      run,
    } = await runScript(`exe @open(door) = \`opened @door\`
guard @watch before @open = when [ @input[0] == "vault" => deny "shut" ]
exe @near(door) = when [ denied => \`near @door: @mx.guard.reason @mx.guard.name @mx.denied @mx.args.door\`; * => @open(@door) ]
exe @far(door) = when [ denied => "far"; * => @near(@door) ]
show @far("vault")
show @far("garden")`);
    expect(output).toBe('near vault: shut watch true vault\nopened garden\n');
    expect(warnings).toEqual(['[Guard Warning] shut']);
    expect(run.denials).toHaveLength(1);
  });

  it('reach a handler through foreach', async () => {
    const lines = await shown(`exe @open(door) = @door
guard before @open = when [ @input[0] == "vault" => deny "shut" ]
exe @all(doors) = when [ denied => \`stopped: @mx.guard.reason\`; * => foreach @open(@doors) ]
show @all(["garden", "vault"])`);
    expect(lines).toEqual(['stopped: shut']);
  });

  it('give the handler the parameters as the before-hooks left them', async () => {
    const lines = await shown(`exe @open(door) = when [ denied => \`no @door\`; * => @door ]
hook before @open = [ => \`front @input[0]\` ]
guard before @open = when [ * => deny "shut" ]
show @open("door")`);
    expect(lines).toEqual(['no front door']);
  });

  it('that no branch handles end the script with reason and name', async () => {
    const { error, shown: output } = await runScript('guard @mute before op:show = when [ * => deny "quiet, please" ]\nshow "x"\nlog "y"');
    expect(output).toBe('');
    expect(error).toMatchObject({ code: 'DENIED', message: expect.stringMatching(/@mute.*quiet, please/) as string });
  });

  it('are seen by the after-hooks of the denied operation only, and can not be lifted', async () => {
    const { shown: output, world } = await runScript(`exe @open(door) = @door
exe @visit(door) = [ => @open(@door) ]
exe @safe(door) = when [ denied => "handled"; * => @visit(@door) ]
guard @watch before @open = when [ * => deny "shut" ]
hook after @open = [ => "lifted" ]
hook after op:exe = [ append \`@mx.op.name @mx.denied @mx.guard.denied\` to "seen.txt" ]
hook after @open = [ show \`@output.decision @output.guardName @output.guardFilter\` ]
show @safe("vault")`);
    expect(output).toBe('deny @watch function:open\nhandled\n');
    expect(world.files.get('/p/seen.txt')).toBe('open true true\nsafe false false\n');
  });

  it('of an after-guard drop the result', async () => {
    const { shown: output, error } = await runScript(`exe @brew() = [ show "brewing"; => "mud" ]
guard after @brew = when [ @output == "mud" => deny "undrinkable" ]
hook after @brew = [ show \`@mx.denied @mx.guard.timing\` ]
show @brew()`);
    expect(output).toBe('brewing\ntrue after\n');
    expect((error as Denial).facts.timing).toBe('after');
  });

  it('look also at what a control word carries', async () => {
    const { error } = await runScript(`exe @step(n) = when [ * => done "secret result" ]
guard after @step = when [ @output == "secret result" => deny "not out" ]
var @r = 0 | while(3) @step
show @r`);
    expect((error as Denial).facts.reason).toBe('not out');
  });
});

describe('retry', () => {
  it('runs source and stage again where a pipeline begins with a call, and counts', async () => {
    const { shown: output, error } = await runScript(`exe @draft() = [ show "drafting"; => "draft" ]
exe @check(v) = \`ok @v\`
guard before @check = when [ @mx.guard.try < 3 => retry "again" ]
var @r = @draft() | @check
show @r`);
    expect(error).toBeUndefined();
    expect(output).toBe('drafting\ndrafting\ndrafting\nok draft\n');
  });

  it.each([
    ['before', 'd\n'.repeat(3)],
    ['after', 'd\n'],
  ])('GUARD-4: is a denial at the third attempt: %s', async (timing, drafts) => {
    const { shown: output, error } = await runScript(`exe @draft() = [ show "d"; => "draft" ]
exe @check(v) = @v
guard ${timing} @check = when [ * => retry "again" ]
var @r = @draft() | @check`);
    expect(output).toBe(drafts);
    expect((error as Denial).facts).toMatchObject({ decision: 'deny', reason: expect.stringContaining('retry limit') as string });
  });

  it('of an after-guard runs the call again, wherever it is written, between its hooks', async () => {
    const { shown: output, error } = await runScript(`exe @draft() = [ show "drafting"; => "v" ]
guard @g after @draft = when [ @mx.guard.try < 3 => retry "again"; * => allow \`@output @mx.guard.try/@mx.guard.max @mx.guard.hintHistory.length\` ]
hook before @draft = [ show "begins" ]
hook after @draft = [ show \`ends @output\` ]
exe @wrap() = [ let @x = @draft(); => \`got @x\` ]
show @wrap()`);
    expect(error).toBeUndefined();
    expect(output).toBe('begins\ndrafting\ndrafting\ndrafting\nends v 3/3 2\ngot v 3/3 2\n');
  });

  it('of an after-guard on a labelled var evaluates the right side again', async () => {
    const { shown: output } = await runScript(`exe @draft() = [ show "drafting"; => "v" ]
guard @g after draft = when [ @mx.op.type == "var" && @mx.guard.try < 2 => retry "again" ]
var draft @x = @draft() | @trim
show @x`);
    expect(output).toBe('drafting\ndrafting\nv\n');
  });

  it('at the limit is a denial of the call, which its after-hooks see', async () => {
    const { shown: output } = await runScript(`exe @draft() = "v"
exe @safe() = when [ denied => \`gave up: @mx.guard.try @mx.guard.tries.length\`; * => @draft() ]
guard after @draft = when [ * => retry "again" ]
hook after @draft = [ show \`denied @mx.denied\` ]
show @safe()`);
    expect(output).toBe('denied true\ngave up: 3 2\n');
  });

  it('is a denial with the hint as its reason everywhere else', async () => {
    const { error } = await runScript('exe @f(x) = @x\nguard before @f = when [ * => retry "again" ]\nvar @r = "text" | @f');
    expect((error as Denial).facts).toMatchObject({ reason: 'again', reasons: ['again'] });
  });
});

it('refuses a second guard of a name, hooks may have it', async () => {
  const { error } = await runScript(`hook @gate before @f = [ let @x = 1 ]
guard @gate before @f = when [ * => allow ]
guard @gate after @f = when [ * => allow ]`);
  expect(error).toMatchObject({ code: 'DUPLICATE_GUARD', message: expect.stringContaining('@gate') as string });
});

it('records each decision', async () => {
  const { facts } = await runScript(
    `exe @f(x) = @x
guard @mask before @f = when [ * => allow "m" ]
guard after @f = when [ * => deny "no" ]
var @r = @f("x")`,
    { records: true },
  );
  const decided = facts.filter(({ type }) => type === 'guard.decided');
  const common = { type: 'guard.decided', op: 'main/f#0', filter: 'function:f' };
  expect(decided).toEqual([
    { ...common, guard: 'mask', timing: 'before', decision: 'allow', transformed: true },
    { ...common, guard: '<unnamed-guard-2>', timing: 'after', decision: 'deny', reason: 'no', transformed: false },
  ]);
});
