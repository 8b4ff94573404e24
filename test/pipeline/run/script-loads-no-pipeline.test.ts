/** A script starts without anything of graphs: what `import` names at the top of a file is loaded at once. */
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../support/source-files.js';

const sources = new Map(sourceFiles(['cli', 'src', 'replay', 'journal', 'grammar']).map(({ path, code }) => [path, code]));

/** Files loaded with this one; imports of types, and `await import`, load nothing. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const code = sources.get(path) ?? '';
    const folder = posix.dirname(path);
    for (const [, target] of code.matchAll(/^(?:import|export)\s+(?!type\b)[^;'"]*?from '(\.[^']+)'/gm))
      waiting.push(posix.join(folder, String(target)).replace(/\.js$/, '.ts'));
  }
  return loaded;
}

it.each([
  'cli/main.ts',
  'cli/commands/file.ts',
  'cli/commands/run.ts',
  'cli/commands/run-script.ts',
  'cli/program.ts',
  'src/session/script/run-script.ts',
])('%s', (entry) => {
  const loaded = loadedWith(entry);
  expect(loaded.size).toBeGreaterThan(entry === 'cli/main.ts' ? 2 : 5);
  expect([...loaded].filter((path) => path.startsWith('src/pipeline/') || path.includes('dot'))).toEqual([]);
});

it.each(['cli/commands/journal/list.ts', 'cli/commands/journal/show.ts'])(
  '%s loads nothing that executes calls, and no store of a team',
  (entry) => {
    const loaded = [...loadedWith(entry)];
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.filter((path) => /^(src\/(language|operation|session\/workers)|journal\/postgres)\//.test(path))).toEqual([]);
  },
);

it('sees what a file loads', () => {
  expect(loadedWith('cli/commands/validate-pipeline.ts')).toContain('grammar/parse-dot.ts');
});
