/** The package as npm packs it, in the `node_modules` of an empty project, beside the packages that it declares and no others. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT } from './source-files.js';

/** npm reads its whole self first. */
export const PACKING_MS = 180_000;
const NODE_MODULES = path.join(PROJECT, 'node_modules');
export const TSC = path.join(NODE_MODULES, 'typescript', 'bin', 'tsc');
/** As strict as the project of a user can be. */
export const STRICT = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];

export interface PackedPackage {
  /** The caller removes it. */
  readonly folder: string;
  /** Paths in the package. */
  readonly files: readonly string[];
}

export function packPackage(): PackedPackage {
  const { dependencies } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as { readonly dependencies: object };
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-package-')));
  const [{ files, filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ readonly files: readonly { readonly path: string }[]; readonly filename: string }];
  execFileSync('tar', ['-xzf', path.join(folder, filename), '-C', folder]);
  cpSync(path.join(folder, 'package'), path.join(folder, 'node_modules', 'mlld'), { recursive: true });
  for (const name of Object.keys(dependencies)) {
    const link = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true }); // the scope of the name
    symlinkSync(path.join(NODE_MODULES, name), link);
  }
  symlinkSync(path.join(NODE_MODULES, '@types'), path.join(folder, 'node_modules', '@types'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  return { folder, files: files.map((file) => file.path) };
}
