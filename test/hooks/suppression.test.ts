/** Hooks and guards don't trigger inside each other. instrumentation.md 7: every cell of the table, directly and through a function. */
import { describe, expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

const WATCHERS = `hook before op:log = [ append "hook" to "fired.txt" ]
guard before op:log = when [ @input[0] == "forbidden" => deny "no" ]
`;
const DECLARED = `exe @trigger(x) = "t"
exe @through(x) = [ log @x; => "done" ]
`;

interface Place {
  readonly place: string;
  readonly hooks: boolean;
  readonly guards: boolean;
  readonly around: (statement: string, call: string) => string;
}

const PLACES: readonly Place[] = [
  { place: 'ordinary code', hooks: true, guards: true, around: (statement) => statement },
  { place: 'a function', hooks: true, guards: true, around: (statement) => `exe @run(x) = [ ${statement} ]\nvar @done = @run("x")` },
  {
    place: 'a hook body',
    hooks: false,
    guards: true,
    around: (statement) => `hook before @trigger = [ ${statement} ]\nvar @done = @trigger("x")`,
  },
  {
    place: 'the condition of a guard',
    hooks: false,
    guards: false,
    around: (_statement, call) => `guard before @trigger = when [ ${call} == "other" => deny "never" ]\nvar @done = @trigger("x")`,
  },
  {
    place: 'the action of a guard',
    hooks: false,
    guards: false,
    around: (_statement, call) => `guard after @trigger = when [ * => allow ${call} ]\nvar @done = @trigger("x")`,
  },
  {
    place: 'a guard of what a hook does',
    hooks: false,
    guards: false,
    around: (_statement, call) =>
      `guard before op:output = when [ * => allow ${call} ]\nhook before @trigger = [ output "x" to "o.txt" ]\nvar @done = @trigger("x")`,
  },
];

describe.each(PLACES)('while $place runs', ({ hooks, guards, around }) => {
  const script = (value: string): string =>
    WATCHERS + DECLARED + around(`var @through_done = @through("${value}")`, `@through("${value}")`);

  it(`hooks ${hooks ? 'fire' : 'are silent'}`, async () => {
    const { world, stderr } = await runScript(script('allowed'));
    expect(stderr).toBe('allowed\n');
    expect(world.files.get('/p/fired.txt')).toBe(hooks ? 'hook\n' : undefined);
  });

  it(`guards are ${guards ? 'on' : 'off'}`, async () => {
    const { stderr, run } = await runScript(script('forbidden'));
    expect(stderr).toBe(guards ? '' : 'forbidden\n');
    expect(run.denials).toHaveLength(guards ? 1 : 0);
  });
});

it('a hook triggers neither itself nor another, directly or through functions', async () => {
  const { shown } = await runScript(`exe @inner(x) = \`in@x\`
exe @f(x) = \`f@x\`
hook after @f = [ show @f(@inner("z")) ]
hook after @inner = [ show "inner hook" ]
show @f("1")
show @inner("2")`);
  expect(shown).toBe('finz\nf1\ninner hook\nin2\n');
});
