// Measures the cost of one cheap operation and its growth.   node operations.mjs [--sizes 10000,50000] [--rounds 5] [--json FILE]
// The growth is taken from sizes of 10,000 and more: a thousand operations take little longer than two starts differ by.

import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { exponent } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { KINDS, operationsScript, project } from './workload.mjs';

const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,50000' }, rounds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const GROWTH_FROM = 10_000;
const sizes = options.sizes.split(',').map(Number);
const rounds = Number(options.rounds);
const cwd = project(scratch('operations'));

heading('operations');
const rows = [];
for (const kind of Object.keys(KINDS)) {
  for (const n of [1, ...sizes]) {
    const file = operationsScript(cwd, kind, n);
    const measured = await interleave(
      subjects().map(({ name, argv }) => ({ name, argv: [...argv, file], cwd })),
      { rounds },
    );
    for (const { name, cpu, rssMB, failed, stdout } of measured) {
      rows.push({ who: name, kind, n, cpu, rssMB, right: failed === 0 && stdout.trim() === String(n) });
    }
  }
}
for (const row of rows) row.usPerOp = ((row.cpu - baseOf(row).cpu) * 1e6) / row.n;
const growth = subjects().flatMap(({ name }) =>
  Object.keys(KINDS).map((kind) => {
    const points = rows
      .filter((row) => row.who === name && row.kind === kind && row.n >= GROWTH_FROM)
      .map((row) => [row.n, row.cpu - baseOf(row).cpu]);
    return { who: name, kind, exponent: exponent(points) };
  }),
);
const shown = rows.filter(({ n }) => n > 1);
table(
  'Per operation (cpu beyond the program with N = 1)',
  Object.entries({ who: 'who', kind: 'kind', N: 'n', 'cpu s': 'cpu', 'rss MB': 'rssMB', 'us/op': 'usPerOp', right: 'right' }),
  shown,
);
table('Growth with N (1 = linear)', Object.entries({ who: 'who', kind: 'kind', exponent: 'exponent' }), growth);
saveJson(options.json, { rows: shown, growth });

function baseOf({ who, kind }) {
  return rows.find((row) => row.who === who && row.kind === kind && row.n === 1);
}
