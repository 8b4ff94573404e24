// No text makes the parser hang, run out of memory or die without a message: random edits of all conformance scripts, each of
// which must give a tree or one of our errors within a time bound. Seeded: the same seed makes the same inputs.
//   node bench/fuzz.mjs [--inputs 100000] [--seed 1] [--slow-ms 2000]
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { buildParsers } from '../grammar/build.mjs';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    'slow-ms': { type: 'string', default: '2000' },
  },
});
const inputs = Number(values.inputs);
const slowMs = Number(values['slow-ms']);
const root = fileURLToPath(new URL('..', import.meta.url));

/** mulberry32: small, seeded, good enough to pick places in a text. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function scripts(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /\.(mld|md|att|mtt)$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
}

const PIECES = ['@', '"', "'", '`', '::', ':::', '[', ']', '{', '}', '(', ')', '<', '>', '|', '||', '=>', '=', '+=', '\\', '\n', ';', '/', '>>', '#', '@x.', 'when ', 'for ', 'exe ', 'var @', '\u0000', 'é', '\ud83d']; // prettier-ignore

function edited(texts, pick) {
  let { text } = texts[pick(texts.length)];
  for (let edits = 1 + pick(4); edits > 0; edits--) {
    const at = pick(text.length + 1);
    const to = Math.min(text.length, at + pick(40));
    switch (pick(6)) {
      case 0:
        text = text.slice(0, at) + text.slice(to);
        break;
      case 1:
        text = text.slice(0, at) + PIECES[pick(PIECES.length)] + text.slice(at);
        break;
      case 2:
        text = text.slice(0, to) + text.slice(at);
        break;
      case 3: {
        const other = texts[pick(texts.length)].text;
        const from = pick(other.length + 1);
        text = text.slice(0, at) + other.slice(from, from + pick(80)) + text.slice(at);
        break;
      }
      case 4:
        text = text.slice(0, at) + PIECES[pick(PIECES.length)].repeat(1 + pick(30)) + text.slice(at);
        break;
      default:
        text = text.slice(0, at);
        break;
    }
  }
  return text;
}

const folder = mkdtempSync(join(tmpdir(), 'mlld-fuzz-'));
try {
  await buildParsers();
  const outfile = join(folder, 'parse.mjs');
  await build({ entryPoints: [join(root, 'grammar/parse.ts')], bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' });
  const { parseScript, parseTemplateFile } = await import(pathToFileURL(outfile));
  const texts = scripts(join(root, 'test/conformance'));
  const pick = randomFrom(Number(values.seed));
  const ways = [(text) => parseScript(text, { mode: 'strict' }), (text) => parseScript(text, { mode: 'markdown' }), (text) => parseTemplateFile(text, 'att'), (text) => parseTemplateFile(text, 'mtt')]; // prettier-ignore
  const counts = { trees: 0, errors: 0, faults: 0, slow: 0 };
  let worstMs = 0;
  for (let i = 0; i < inputs; i++) {
    const text = edited(texts, pick);
    const way = ways[pick(8) < 6 ? 0 : 1 + pick(3)];
    const startMs = performance.now();
    try {
      way(text);
      counts.trees++;
    } catch (error) {
      if (error?.name === 'SyntaxFailure' && error.at >= 0 && error.at <= text.length) counts.errors++;
      else {
        counts.faults++;
        console.log(`input ${i}: ${error?.name}: ${error?.message}\n${JSON.stringify(text)}`);
      }
    }
    const elapsedMs = performance.now() - startMs;
    worstMs = Math.max(worstMs, elapsedMs);
    if (elapsedMs > slowMs) {
      counts.slow++;
      console.log(`input ${i} took ${elapsedMs.toFixed(0)} ms\n${JSON.stringify(text)}`);
    }
  }
  console.log(
    `${inputs} inputs from ${texts.length} sources, seed ${values.seed}: ${counts.trees} trees, ${counts.errors} errors with a place, ${counts.faults} faults, ${counts.slow} slower than ${slowMs} ms; slowest ${worstMs.toFixed(0)} ms`,
  );
  process.exitCode = counts.faults + counts.slow > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
