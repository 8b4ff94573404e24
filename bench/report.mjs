// Results as text for people and as JSON for check-targets.mjs.

import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

export function heading(name) {
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`# ${name}\n\nnode ${process.version}, ${cpus().length} cores (${cpu.model}), load ${load.join(' ')}`);
}

/** @param {[string, string | ((row: object) => unknown)][]} columns title and member */
export function table(title, columns, rows) {
  const value = (row, get) => shown(typeof get === 'function' ? get(row) : row[get]);
  const cells = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, get]) => value(row, get)))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i].length)));
  const line = (texts) => `| ${texts.map((text, i) => text.padEnd(widths[i])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  console.log(`\n## ${title}\n\n${[line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n')}`);
}

function shown(value) {
  if (typeof value !== 'number') return String(value ?? '-');
  if (!Number.isFinite(value)) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** Outputs of measured programs are left out. */
export function saveJson(file, value) {
  if (file)
    writeFileSync(
      file,
      JSON.stringify(value, (key, member) => (key === 'stdout' || key === 'stderr' ? undefined : member), 1),
    );
}
