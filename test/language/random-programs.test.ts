/**
 * Random programs of all constructs: what is printed is read as the tree that it was printed from, and a run ends with a result or an error
 * of the language. `MLLD_RANDOM_PROGRAMS=10000` looks at more of them.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { MlldError } from '../../src/errors.js';
import type { EffectKind, EffectRequest, EffectResult } from '../../src/world/world.js';
import { anyScript } from '../support/any-script.js';
import { FakeWorld } from '../support/fake-world.js';
import { runScript } from '../support/in-fake-world.js';
import { printMarkdown, printScript, type Tree } from '../support/print-script.js';

const numRuns = Number(process.env['MLLD_RANDOM_PROGRAMS'] ?? 150);
const timeoutMs = 30_000 + numRuns * 100;

it(
  'are read as they were printed',
  () => {
    fc.assert(
      fc.property(anyScript, (statements) => {
        const read = parseScript(printScript(statements), { mode: 'strict' }).statements;
        expect(withoutPlaces(read)).toEqual(withoutPlaces(statements));
      }),
      { numRuns },
    );
  },
  timeoutMs,
);

it(
  'are read in Markdown mode as they were printed',
  () => {
    fc.assert(
      fc.property(anyScript, (statements) => {
        const directives = statements.filter(isDirective);
        const read = parseScript(printMarkdown(directives), { mode: 'markdown' }).statements.filter(({ kind }) => kind !== 'prose');
        expect(withoutPlaces(read)).toEqual(withoutPlaces(directives));
      }),
      { numRuns },
    );
  },
  timeoutMs,
);

it(
  'show in Markdown mode what they show without the prose',
  async () => {
    await fc.assert(
      fc.asyncProperty(anyScript, async (statements) => {
        const directives = statements.filter(isDirective);
        const [strict, markdown] = [
          await runScript(printScript(directives), { world: new WorldWithCode({ files }) }),
          await runScript(printMarkdown(directives), { world: new WorldWithCode({ files }), mode: 'markdown' }),
        ];
        expect(withoutLines(markdown.error?.message)).toBe(withoutLines(strict.error?.message));
        expect([...markdown.world.files]).toEqual([...strict.world.files]);
      }),
      { numRuns },
    );
  },
  timeoutMs,
);

/** Places in messages differ by the lines of prose. */
function withoutLines(message: string | undefined): string | undefined {
  return message?.replaceAll(/\d+:\d+/g, 'LINE:COLUMN');
}

/** In Markdown a line that begins with a variable or with bars is prose. */
function isDirective({ kind, value }: Tree): boolean {
  return kind !== 'call' || (value as Tree).kind === 'reference' || (value as Tree).kind === 'stream';
}

it(
  'end with a result or an error of the language',
  async () => {
    await fc.assert(
      fc.asyncProperty(anyScript, async (statements) => {
        const { error } = await runScript(printScript(statements), { world: new WorldWithCode({ files }) });
        if (error !== undefined && !(error instanceof MlldError)) throw error;
        expect(error?.message ?? '').not.toMatch(/undefined is not|Cannot read|\[object Object\]/);
      }),
      { numRuns },
    );
  },
  timeoutMs,
);

/** The files that the programs load and import. Others that they name are missing. */
const files = {
  '/p/data.json': '{"f": 1, "g": [1, 2]}',
  '/p/notes.md': '# One\nfirst\n## Two\nsecond\n',
  '/p/card.att': 'card of @a @for @b @@\n',
  '/p/lib.mld': 'exe @f(x) = `lib @x`\nexe @g() = "g"\nvar @h = { "k": 1 }\nexport { @f, @h }\n',
  '/p/sub/more.mld': 'import { @f as @g } from "../lib.mld"\nexe @f(x) = [ => @g(@x) ]\nexport { @f, @g }\n',
  '/p/sub/deep/index.mld': 'import { @f as @ff } from "../more"\nexe @f() = @ff("d")\nvar @h = 1\n',
  '/p/empty/a.txt': '',
};

/** Answers every command and all code with the same. */
class WorldWithCode extends FakeWorld {
  override async perform<Q extends EffectKind>(kind: Q, request: EffectRequest<Q>): Promise<EffectResult<Q>> {
    if (kind === 'code.run') return { value: 1, log: '' } as EffectResult<Q>;
    if (kind === 'command.run') return { stdout: 'out\n', stderr: '', exitCode: 0, durationMs: 1 } as EffectResult<Q>;
    if (kind === 'stream.write') return {} as EffectResult<Q>;
    return super.perform(kind, request);
  }
}

const PLACES = new Set(['at', 'nameAt', 'aliasAt', 'written']);

function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => (PLACES.has(key) ? undefined : value)));
}
