/** `allow … with { addLabels, removeLabels, warning }`, and guards that are imported by name. instrumentation.md 3.3, 4.1 and 11. */
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const NOTE = 'exe @note(x) = `n(@x)`\nvar secret,pii @pin = "4411"\n';

async function labelsAfter(text: string): Promise<string> {
  const { shown, error } = await runScript(`${NOTE}${text}\nvar @r = @note(@pin)\nshow \`@r [@r.mx.labels.join(" ")]\``);
  expect(error).toBeUndefined();
  return shown.trimEnd();
}

describe('allow … with', () => {
  it.each([
    [
      'adds to the output',
      'guard after @note = when [ * => allow with { addLabels: ["seen", "net:w"] } ]',
      'n(4411) [secret pii seen net:w]',
    ],
    ['adds one that is there once', 'guard after @note = when [ * => allow with { addLabels: "pii" } ]', 'n(4411) [secret pii]'],
    ['adds to what it gives instead', 'guard after @note = when [ * => allow "x" with { addLabels: ["seen"] } ]', 'x [secret pii seen]'],
    ['adds to the input', 'guard before @note = when [ * => allow with { addLabels: ["seen"] } ]', 'n(4411) [secret pii seen]'],
    ['removes', 'guard privileged after @note = when [ * => allow with { removeLabels: ["secret"] } ]', 'n(4411) [pii]'],
    [
      'removes from what it gives instead',
      'guard after @note = when [ * => allow "****" with { removeLabels: ["secret", "pii"] } ] with { privileged: true }',
      '**** []',
    ],
    [
      'chains',
      `guard privileged @a after @note = when [ * => allow "b" with { removeLabels: ["secret"], addLabels: ["a"] } ]
guard @b after @note = when [ @output.mx.labels.includes("secret") => deny "still secret"; * => allow \`@output@output\` ]`,
      'bb [pii a]',
    ],
  ])('%s', async (_what, guard, expected) => {
    expect(await labelsAfter(guard)).toBe(expected);
  });

  it('removes from the input: what the function makes of it has the label no more', async () => {
    const removes = 'guard privileged before secret = when [ @mx.op.name == "note" => allow "x" with { removeLabels: ["secret", "pii"] } ]';
    expect(await labelsAfter(removes)).toBe('n(x) []');
  });

  it('labels flow on, so that other guards see them', async () => {
    const { error } = await runScript(`exe @fetch() = "page"
guard after @fetch = when [ * => allow with { addLabels: ["untrusted"] } ]
var @page = @fetch()
exe @act(x) = "acted"
guard before untrusted = when [ @mx.op.name == "act" => deny "no acting on untrusted text" ]
show @act(\`see @page\`)`);
    expect(error).toMatchObject({ code: 'DENIED' });
  });

  it('warns, and is recorded as a change', async () => {
    const { warnings, facts } = await runScript(
      `${NOTE}guard @g after @note = when [ * => allow with { warning: \`mind @mx.op.name\` } ]\nvar @r = @note("x")`,
      { records: true },
    );
    expect(warnings).toEqual(['[Guard Warning] mind note']);
    expect(facts.find(({ type }) => type === 'guard.decided')).toMatchObject({ guard: 'g', decision: 'allow' });
  });

  it.each([
    ['removes labels without being privileged', 'with { removeLabels: ["secret"] }', 'Only a privileged guard removes labels'],
    ['an option that is none', 'with { addLabel: ["secret"] }', 'addLabel }: allow has no such option'],
  ])('is refused where the guard is declared: %s', async (_what, options, message) => {
    const { error, shown } = await runScript(`show "before"\nguard before @never = when [ * => allow ${options} ]\nshow "after"`);
    expect(error).toMatchObject({
      code: 'GUARD_OPTION',
      message: expect.stringContaining(message) as string,
      location: { at: expect.any(Number) as number },
    });
    expect(shown).toBe('before\n');
  });

  it.each(['[1]', '["two words"]', '"a,b"', 'null'])('takes labels only: %s', async (labels) => {
    const { error, shown } = await runScript(
      `${NOTE}guard after @note = when [ * => allow with { addLabels: ${labels} } ]\nshow @note("x")`,
    );
    expect(error).toMatchObject({ code: 'GUARD_OPTION' });
    expect(shown).toBe('');
  });
});

describe('import { @guard }', () => {
  const MODULE =
    'guard @watch before op:show = when [ @input[0] == "no" => deny "not this" ]\nhook @look before op:log = [ append "looked" to "trail.txt" ]\n';
  const run = (script: string, module: string): ReturnType<typeof runScript> => runScript(script, { files: { '/p/rules.mld': module } });

  it.each([
    ['without a list', MODULE],
    ['with one', `${MODULE}export { @watch, @look }\n`],
    ['with everything', `${MODULE}export { * }\n`],
  ])('is in force and binds nothing: a module %s', async (_what, module) => {
    const { shown, error } = await run(
      'import { @watch, @look } from "./rules.mld"\nvar @watch = "mine"\nshow @watch\nlog "x"\nshow "no"',
      module,
    );
    expect(shown).toBe('mine\n');
    expect(error).toMatchObject({ code: 'DENIED' });
  });

  it.each([
    ['that the list leaves out', 'import { @watch } from "./rules.mld"', `${MODULE}var @a = 1\nexport { @a }\n`],
    ['that is not there', 'import { @watcher } from "./rules.mld"', `${MODULE}export { @watch }\n`],
    ['under another name', 'import { @watch as @mine } from "./rules.mld"', `${MODULE}export { @watch }\n`],
  ])('is refused for a guard %s', async (_what, script, module) => {
    expect((await run(script, module)).error).toMatchObject({ code: 'NOT_EXPORTED' });
  });
});
