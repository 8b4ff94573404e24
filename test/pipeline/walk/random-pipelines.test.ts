/** Every text parses or is refused with a place in it; lint and drawing work on every text that parses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { examples } from '../../support/examples.js';
import { SyntaxFailure } from '../../../grammar/errors.js';
import { parseCondition, parsePipeline, parseStylesheet } from '../../../grammar/parse-dot.js';
import { toGraphviz } from '../../../src/pipeline/render/to-graphviz.js';
import { lintPipeline } from '../../../src/pipeline/lint/lint.js';
import { preparePipeline } from '../../../src/pipeline/model/prepare.js';

const folder = join(import.meta.dirname, '..', '..', 'conformance', 'graph');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.dot') && !path.startsWith('limits-'))
  .map((path) => readFileSync(join(folder, path), 'utf8'));

const scraps = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '->',
  '--',
  '=',
  ';',
  ',',
  ':',
  '.',
  '#',
  '/*',
  '*/',
  '//',
  '<',
  '+',
  '\\',
  '\n',
  ' ',
  'node',
  'subgraph',
  'é',
  '5',
  '5s',
  '\u0000',
];

/** A sound file after a few cuts and pastes. */
const edited = fc
  .tuple(fc.constantFrom(...sources), fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.constantFrom('', ...scraps)), { maxLength: 4 }))
  .map(([source, edits]) =>
    edits.reduce((text, [place, length, scrap]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + scrap + text.slice(at + length);
    }, source),
  );

/** Undefined when it was refused, which has to be done with a place and a word about it. */
function tryParse<T>(text: string, parse: (text: string) => T): T | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    expect(error.at).toBeGreaterThanOrEqual(0);
    expect(error.at).toBeLessThanOrEqual(text.length);
    expect(error.message).not.toBe('');
    return undefined;
  }
}

describe('any text', () => {
  it('is a pipeline, or is refused at a place in it; and a pipeline can be linted and drawn', () => {
    fc.assert(
      fc.property(edited, (text) => {
        const pipeline = tryParse(text, parsePipeline);
        if (!pipeline) return;
        const graph = preparePipeline(text);
        for (const { at } of lintPipeline(graph)) {
          expect(at).toBeGreaterThanOrEqual(0);
          expect(at).toBeLessThanOrEqual(text.length);
        }
        // The drawn text parses as a pipeline again, but for its quoted ids: every string in it is closed.
        expect(toGraphviz(pipeline, graph).replace(/"(?:[^"\\]|\\[^])*"/g, '')).not.toContain('"');
      }),
      { numRuns: examples(500, 1500) },
    );
  });

  it('is a condition or a stylesheet, or is refused at a place in it', () => {
    const words = [
      'outcome',
      'context.',
      'a',
      '=',
      '!=',
      '&&',
      '||',
      '"',
      '\\',
      ' ',
      '0.5',
      '-3',
      '{',
      '}',
      ';',
      ':',
      '*',
      '.c',
      '#n',
      'llm_model',
      'reasoning_effort',
      'low',
      '/*',
    ];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (written) => {
        const condition = tryParse(written, parseCondition);
        if (condition) expect(condition.clauses.length).toBeGreaterThan(0);
        const stylesheet = tryParse(written, parseStylesheet);
        if (stylesheet) expect(stylesheet.rules.length).toBeGreaterThan(0);
      }),
      { numRuns: examples(1000, 3000) },
    );
  });
});

describe('any string', () => {
  it('reads back as it was written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const written = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
        const [statement] = parsePipeline(`digraph g { a [prompt="${written}"] }`).statements;
        expect(statement).toMatchObject({ attributes: [{ value: { kind: 'string', text } }] });
      }),
    );
  });
});

describe('the order of statements', () => {
  it('of nodes and edges without defaults changes nothing but the order', () => {
    const statements = fc.shuffledSubarray(['a [x=1]', 'b [x=2]', 'c', 'a -> b', 'b -> c [weight=2]', 'subgraph { label=s d }'], {
      minLength: 6,
    });
    fc.assert(
      fc.property(statements, (order) => {
        const { nodes, edges } = preparePipeline(`digraph g { ${order.join(';')} }`);
        const shown = (id: string) => [...(nodes.get(id)?.attributes ?? [])].map(([key, { value }]) => `${key}=${value.text}`);
        expect(['a', 'b', 'c', 'd'].map(shown)).toEqual([['x=1'], ['x=2'], [], []]);
        expect(nodes.get('d')?.classes).toEqual(['s']);
        expect(new Set(edges.map(({ from, to }) => `${from}->${to}`))).toEqual(new Set(['a->b', 'b->c']));
      }),
    );
  });
});
