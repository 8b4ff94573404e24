/** Guards in the constructs of the language: stages, statements with `with { guards }`, labelled values. instrumentation.md 3.3 and 4. */
import { describe, expect, it } from 'vitest';
import { effectInput } from '../../src/language/expressions/effect-input.js';
import { guardHistory } from '../../src/language/pipelines/guard-history.js';
import { GuardTrail } from '../../src/runtime/guard-trail.js';
import { annotate, dataOf, labelsOf } from '../../src/values/value.js';
import { bareRun, WITHOUT_INTERCEPTORS } from '../support/bare-run.js';
import { runScript } from '../support/in-fake-world.js';

async function shown(text: string): Promise<string> {
  const { shown: output, error } = await runScript(text);
  expect(error).toBeUndefined();
  return output;
}

describe('a stage of a pipeline', () => {
  const SHIP = 'exe @ship(v) = when [ denied => `stopped: @mx.guard.reason`; * => `shipped @v` ]\n';

  it('is looked at before it is a call, and is no operation of hooks or the journal', async () => {
    const script = `${SHIP}guard @see before @ship = when [ @mx.op.type == "pipeline-stage" && @mx.op.subtype == "ship" => deny "as a stage" ]
hook before op:pipeline-stage = [ show "hooked" ]
var @r = "x" | @ship
show @r
show @ship("y")`;
    expect(await shown(script)).toBe('stopped: as a stage\nshipped y\n');
    const { facts } = await runScript(script, { records: true });
    expect(facts.filter((fact) => fact.type === 'op.started' && fact.kind === 'pipeline-stage')).toEqual([]);
  });

  it('is looked at once by a guard that replaces, and its call by one that does not', async () => {
    const replaces = 'guard @one before @ship = when [ * => allow `1@input[0]` ]\n';
    const call = 'guard @two before @ship = when [ @mx.op.type == "exe" => allow `2@input[0]` ]\n';
    expect(await shown(`${SHIP}${replaces}${call}var @r = "x" | @ship\nshow @r`)).toBe('shipped 21x\n');
  });

  it('is looked at once after the call', async () => {
    expect(await shown(`${SHIP}guard after @ship = when [ * => allow \`[@output]\` ]\nvar @r = "x" | @ship\nshow @r`)).toBe(
      '[shipped x]\n',
    );
  });

  it('runs again for a guard of stages', async () => {
    const script = `exe @ship(v) = [ show "ships"; => @v ]
guard @again after op:pipeline-stage = when [ @mx.guard.try < 3 => retry "again" ]
var @r = "x" | @ship
show @r`;
    expect(await shown(script)).toBe('ships\nships\nships\nx\n');
  });

  it('is in the history of its pipeline, attempt by attempt', async () => {
    const script = `exe @draft() = "d"
exe @check(v) = @v
exe @see(v) = \`@p.guards.length: @p.guards[0].stage @p.guards[0].operation.name @p.guards[0].decision @p.guards[1].decision\`
guard @g before @check = when [ @mx.guard.try < 2 => retry "again" ]
var @r = @draft() | @check | @see
show @r`;
    expect(await shown(script)).toBe('2: 1 check retry allow\n');
  });
});

it('the history of guards carries the labels of what guards replaced', () => {
  const trail = new GuardTrail();
  const replacement = annotate('x', { labels: ['pii'] });
  const decision = {
    guardName: null,
    guardFilter: 'f',
    timing: 'before',
    decision: 'allow',
    reason: null,
    hint: null,
    replacement,
  } as const;
  trail.add(decision);
  const operation = { kind: 'pipeline-stage', segment: 'f', name: 'f', labels: [], inputs: [] };
  const history = guardHistory([
    { stage: 1, operation, trail },
    { stage: 2, operation, trail: new GuardTrail() },
  ]);
  expect(labelsOf(history)).toEqual(['pii']);
  expect(dataOf(history)).toMatchObject([{ stage: 1, decision: 'allow', trace: [{ replacement: 'x' }] }]);
});

it('the operand of an effect is put together of pieces only where a guard of a label may look', async () => {
  const template = { kind: 'template', at: 0, quote: 'backtick', parts: [{ kind: 'text', text: 'pin' }] } as never;
  const evaluate = async (): Promise<string> => 'evaluated';
  expect(await effectInput(template, bareRun({ evaluate }).frame)).toEqual({ value: 'evaluated' });
  const interceptors = { ...WITHOUT_INTERCEPTORS, active: true, guardsByLabel: () => ['@g'] };
  expect(await effectInput(template, bareRun({ evaluate, interceptors }).frame)).toEqual({ value: 'pin', pieces: ['pin'] });
});

describe('with { guards }', () => {
  it('covers the statement and what its operand calls, and no body', async () => {
    const guards =
      'guard @no before op:exe = when [ @mx.op.name == "inner" => deny "inner" ]\nguard @mute before op:show = when [ * => deny "mute" ]\n';
    const functions = 'exe @inner() = "in"\nexe @outer() = [ => @inner() ]\n';
    expect(await shown(`${functions}${guards}show @inner() with { guards: false }`)).toBe('in\n');
    const { error } = await runScript(`${functions}${guards}show @outer() with { guards: false }`);
    expect(error).toMatchObject({ code: 'DENIED', message: expect.stringContaining('inner') as string });
  });

  it('covers the declaration of a variable, and a run', async () => {
    const guards = 'guard @no before op:var = when [ * => deny "no" ]\nguard @quiet before op:run = when [ * => deny "quiet" ]\n';
    const { error, warnings } = await runScript(`${guards}var @a = 1 with { guards: { except: ["@no"] } }\nshow @a`);
    expect([error, warnings]).toEqual([undefined, ['guards are switched by name for this use']]);
    expect((await runScript(`${guards}var @a = 1 with { guards: { only: ["@no"] } }`)).error).toMatchObject({ code: 'DENIED' });
  });
});

it('labels any value behind an arrow', async () => {
  const script = `exe @a(v) = [ => pii,lot { v: @v } ]
exe @b(v) = when [ @v > 1 => lot [@v, 2]; * => pii "one" ]
var @x = @a(1)
var @y = @b(2)
var @z = @b(1)
show \`@x.v @x.mx.labels @y[0] @y.mx.labels @z @z.mx.labels\``;
  expect(await shown(script)).toBe('1 ["pii","lot"] 2 ["lot"] one ["pii"]\n');
});
