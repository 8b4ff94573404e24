/** `mlld modules add|list|verify|remove|outdated`: the published modules of a project. world.md 11.7. */
import path from 'node:path';
import { MlldError } from '../../src/errors.js';
import { addModules, listModules, outdatedModules, removeModules, verifyModules, type AddTarget } from '../../src/api/published-modules.js';
import { EXIT_FAILED, EXIT_OK } from '../exit-codes.js';
import { renderAdded, renderModuleCheck, renderModules, renderOutdated, renderRemoved } from '../render/reports/modules.js';
import { reportStyle } from '../render/style.js';
import type { Io } from '../terminal/io.js';
import { projectOf } from './open-project.js';

interface JsonOption {
  readonly json?: true;
}

export async function add(io: Io, sources: readonly string[], options: JsonOption & { readonly as?: string }): Promise<void> {
  const project = await projectOf(io);
  const targets = sources.map((source) => targetOf(source, io.workingDirectory));
  const added = await addModules(project, { targets, ...(options.as !== undefined && { as: options.as }) });
  print(io, options, added, () => renderAdded(added));
}

export async function list(io: Io, options: JsonOption): Promise<void> {
  const report = await listModules(await projectOf(io));
  print(io, options, report, () => renderModules(report, reportStyle(io)));
}

export async function verify(io: Io, options: JsonOption): Promise<number> {
  const report = await verifyModules(await projectOf(io));
  print(io, options, report, () => renderModuleCheck(report));
  return report.valid ? EXIT_OK : EXIT_FAILED;
}

export async function remove(io: Io, names: readonly string[], options: JsonOption & { readonly unused?: true }): Promise<void> {
  if (names.length === 0 && !options.unused)
    throw new MlldError('USAGE', 'mlld modules remove: no module is named', { hint: 'mlld modules remove @author/name, or --unused' });
  const report = await removeModules(await projectOf(io), [...new Set(names)], options.unused ? 'delete' : 'keep');
  print(io, options, report, () => renderRemoved(report));
}

export async function outdated(io: Io, options: JsonOption): Promise<number> {
  const report = await outdatedModules(await projectOf(io));
  print(io, options, report, () => renderOutdated(report, reportStyle(io)));
  return report.every(({ state }) => state === 'current') ? EXIT_OK : EXIT_FAILED;
}

/** A text that begins with `@` is a name, one with a scheme an address, and any other a path. */
function targetOf(source: string, workingDirectory: string): AddTarget {
  if (source.startsWith('@')) return { kind: 'name', name: source };
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(source)) return { kind: 'address', address: source };
  return { kind: 'file', absolute: path.resolve(workingDirectory, source) };
}

function print(io: Io, { json }: JsonOption, report: unknown, text: () => string): void {
  io.stdout(json ? `${JSON.stringify(report, undefined, 2)}\n` : text());
}
