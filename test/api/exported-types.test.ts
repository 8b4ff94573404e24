/** A program that imports the library can name every type that it works with. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeclaredTypes } from '../support/declared-types.js';
import { PROJECT } from '../support/source-files.js';

/** Seen through the members of an exported type; a program has no use for the name. */
const SEEN_THROUGH = words('At Branded Common GraphParts PipelineRunOptions RunOptions ValueOf');

/** Reached through members that docs/library.md calls not stable: what a stage has at hand, the inside of values, the disk of a test. */
const NOT_STABLE = words(
  'Annotated BranchTurns CheckpointFile ChildRequest ChildRun CompiledPipeline Data Disk Frame Ledger PromptHistory RunFolder SecretRegistry StageFolder Threads ' +
    'TimedWait WalkContext WalkEnd WalkView',
);

const types = new DeclaredTypes();
const exported = types.exportsOf(path.join(PROJECT, 'dist/types/src/api/index.d.ts'));
const known = new Set([...exported.values()].map(({ file, name }) => `${file} ${name}`));

describe('the types that the library exports', () => {
  it('are many', () => {
    expect(exported.size).toBeGreaterThan(150);
    expect(exported.get('run')?.text).toContain('RunRequest');
  });

  it.each([...exported])('%s names only types that are exported, too', (_name, declaration) => {
    const missing = types
      .typesIn(declaration)
      .filter(({ file, name }) => !known.has(`${file} ${name}`) && !SEEN_THROUGH.has(name) && !NOT_STABLE.has(name));
    expect(missing.map(({ file, name }) => `${name} of ${path.relative(PROJECT, file)}`)).toEqual([]);
  });
});

it('has every function that the table of docs/library.md names', () => {
  const table = /\n\| to .*?\n\n/s.exec(readFileSync(path.join(PROJECT, 'docs', 'library.md'), 'utf8'))?.[0] ?? '';
  const named = [...table.matchAll(/`(\w+)[`(]/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((name) => !exported.has(name))).toEqual([]);
});

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
