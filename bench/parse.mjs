// Long programs, validated and run, as multiples of `node -e 0`.   node parse.mjs [--lines 500,2000] [--rounds 5] [--json FILE]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { exponent } from './statistics.mjs';
import { subjects } from './subjects.mjs';
import { longScript, project } from './workload.mjs';

const { values: options } = parseArgs({
  options: { lines: { type: 'string', default: '500,2000' }, rounds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const cwd = project(scratch('parse'));
writeFileSync(join(cwd, 'empty.mld'), 'show "ready"\n');
const programs = [{ file: 'empty.mld', lines: 1 }, ...options.lines.split(',').map((lines) => longScript(cwd, Number(lines)))];

const floor = { name: 'floor', argv: [process.execPath, '-e', '0'], cwd };
const variants = [];
for (const { name: who, argv } of subjects()) {
  for (const { file, lines } of programs) {
    variants.push({ name: `${who} run ${lines}`, who, how: 'run', lines, argv: [...argv, file], cwd });
    variants.push({ name: `${who} validate ${lines}`, who, how: 'validate', lines, argv: [...argv, 'validate', file], cwd });
  }
}

heading('parse');
const [floorRow, ...measured] = await interleave([floor, ...variants], { rounds: Number(options.rounds) });
const rows = measured.map((row, i) => ({ ...row, who: variants[i].who, how: variants[i].how, lines: variants[i].lines }));
for (const row of rows) {
  const empty = rows.find((other) => other.who === row.who && other.how === row.how && other.lines === 1);
  row.extra = row.cpu - empty.cpu;
  row.extraRatio = row.extra / floorRow.cpu;
  row.usPerLine = (row.extra * 1e6) / row.lines;
}
const long = rows.filter(({ lines }) => lines > 1);
const growth = subjects().flatMap(({ name: who }) =>
  ['run', 'validate'].map((how) => ({
    who,
    how,
    exponent: exponent(long.filter((row) => row.who === who && row.how === how).map((row) => [row.lines, row.extra])),
  })),
);
const columns = {
  who: 'who',
  how: 'how',
  lines: 'lines',
  'cpu s': 'cpu',
  'extra cpu s': 'extra',
  'x node -e 0': 'extraRatio',
  'us/line': 'usPerLine',
  failed: 'failed',
};
table('A program of many lines (extra: beyond the one-line program)', Object.entries(columns), long);
table('Growth of the extra cpu (1 = linear)', Object.entries({ who: 'who', how: 'how', exponent: 'exponent' }), growth);
saveJson(options.json, { rows: long, growth });
