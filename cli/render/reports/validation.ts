/** Renders the reports of `mlld validate`, and those before a run. world.md 17.2 and 19. */
import type { FileReport, Finding } from '../../../src/api/commands/validator.js';
import { oneLine } from '../one-line.js';
import type { Style } from '../style.js';
import { visible } from '../terminal-text.js';

/** A file of a folder: `path` is relative to the directory. */
export interface ValidatedFile {
  readonly path: string;
  readonly report: FileReport;
}

function errorsOf({ errors = [] }: FileReport): readonly Finding[] {
  return errors;
}

/** Returns the findings that `--error-on-warnings` counts: anti-patterns are warnings with a code. */
export function warningsOf({ warnings = [], antiPatterns = [] }: FileReport): readonly Finding[] {
  return [...warnings, ...antiPatterns];
}

/** Renders the full report of one file. */
export function renderReport(path: string, report: FileReport, style: Style): string {
  const { module, needs = [], executables = [], exports = [], imports = [], guards = [], redefinitions = [], template } = report;
  const heading = template ? `Valid template (.${template.type})` : 'Valid module';
  return linesToText([
    path,
    report.valid ? style.green(heading) : style.red('Invalid module'),
    ...moduleLines(module),
    ...section(
      'Executables',
      executables,
      ({ name, params, labels }) => `@${name}(${params.join(', ')})${labels.length > 0 ? ` [${labels.join(', ')}]` : ''}`,
    ),
    ...section('Exports', exports, (name) => `@${name}`),
    ...section('Imports', imports, ({ from, names }) => (names.length > 0 ? `${from}: ${names.join(', ')}` : from)),
    ...section('Needs', needs, ({ kind, name }) => oneLine(kind === 'node-package' ? `${name} (package)` : name)),
    ...section('Guards', guards, ({ name, timing, filter }) => `${name === undefined ? '' : `@${name} `}${timing} ${filter}`),
    ...section('Parameters', template?.discoveredParams ?? [], (name) => `@${name}`),
    ...section('Errors', errorsOf(report), (finding) => [style.red(describe(finding)), ...excerptOf(finding)].join('\n')),
    ...section('Warnings', warningsOf(report), (finding) => style.yellow(describe(finding))),
    ...section('Notes', redefinitions, describe),
  ]);
}

function moduleLines(module: FileReport['module']): readonly string[] {
  if (!module) return [];
  const { name, version, about } = module;
  const named = [name, version].filter((part) => part !== undefined).join(' ');
  return [...(named === '' ? [] : [oneLine(named)]), ...(about === undefined ? [] : [oneLine(about)])];
}

/** Renders a line for each file with its findings, then the totals. */
export function renderDirectory(files: readonly ValidatedFile[], style: Style): string {
  const lines = files.flatMap(({ path, report }) => [
    `  ${markOf(report, style)} ${path}`,
    ...[...errorsOf(report), ...warningsOf(report)].map((finding) => `      ${describeBriefly(finding)}`),
  ]);
  return linesToText([...lines, '', summaryOf(files)]);
}

/** Renders the full report of each file, then the totals. */
export function renderDirectoryInFull(files: readonly ValidatedFile[], style: Style): string {
  return [...files.map(({ path, report }) => renderReport(path, report, style)), linesToText([summaryOf(files)])].join('\n');
}

function summaryOf(files: readonly ValidatedFile[]): string {
  const failed = files.filter(({ report }) => !report.valid).length;
  const warned = files.filter(({ report }) => report.valid && warningsOf(report).length > 0).length;
  const parts = [
    `${files.length - failed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(warned > 0 ? [`${warned} with warnings`] : []),
  ];
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}: ${parts.join(', ')}`;
}

/** `error: FILE:LINE:COL - message (hint)`, one a line; behind one about code in a body, the lines of it. */
export function renderPreflightErrors(path: string, report: FileReport, style: Style): string {
  return linesToText(errorsOf(report).flatMap((finding) => [preflightLine(style.red('error'), path, finding), ...excerptOf(finding)]));
}

/** One line for each file and kind. Returns an empty text when there are no warnings. */
export function renderPreflightWarnings(path: string, warnings: readonly Finding[], style: Style): string {
  const kinds = new Map<string, Finding[]>();
  for (const finding of warnings) {
    const kind = JSON.stringify([finding.file, finding.code, finding.variable]);
    kinds.set(kind, [...(kinds.get(kind) ?? []), finding]);
  }
  if (kinds.size === 0) return '';
  const lines = [...kinds.values()].map(([first, ...more]) => {
    const line = `  ${preflightLine(style.yellow('warning'), path, first as Finding)}`;
    return more.length === 0 ? line : `${line} (and ${more.length} more in this file: mlld validate lists them)`;
  });
  return linesToText(['Pre-flight warnings:', ...lines]);
}

function preflightLine(severity: string, path: string, finding: Finding): string {
  return `${severity}: ${placeOfFinding(path, finding)} - ${subjectOf(finding, ' ')}${finding.message}${hintOf(finding)}`;
}

function markOf(report: FileReport, style: Style): string {
  if (!report.valid) return style.red('✗');
  return warningsOf(report).length > 0 ? style.yellow('⚠') : style.green('✓');
}

function describe(finding: Finding): string {
  return `${describeBriefly(finding)}${hintOf(finding)}`;
}

function excerptOf({ excerpt }: Finding): readonly string[] {
  return excerpt === undefined ? [] : excerpt.split('\n').map((line) => `    ${visible(line)}`);
}

function hintOf({ hint }: Finding): string {
  return hint === undefined ? '' : ` (${hint})`;
}

/** `@nmae (line 3:10) - undefined variable` */
function describeBriefly(finding: Finding): string {
  const { message, line, column, file } = finding;
  const place = line === undefined ? (file ?? '') : `${file === undefined ? 'line ' : `${file}:`}${line}:${column ?? 1}`;
  const subject = `${subjectOf(finding, ' ')}${place === '' ? '' : `(${place}) `}`;
  return `${subject === '' ? '' : `${subject}- `}${message}`;
}

function subjectOf({ variable }: Finding, behind: string): string {
  return variable === undefined ? '' : `@${variable}${behind}`;
}

function placeOfFinding(path: string, { file = path, line, column }: Finding): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

function section<T>(title: string, items: readonly T[], show: (item: T) => string): readonly string[] {
  return items.length === 0 ? [] : ['', `${title}:`, ...items.map((item) => `  ${show(item)}`)];
}

function linesToText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
