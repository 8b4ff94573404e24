/** Gets the bytes of a module from an address, a file, or the registry. The only way from here to the network. */
import path from 'node:path';
import { MlldError } from '../../errors.js';
import type { ModuleFormat } from '../../modules/published/lock.js';
import type { ModuleName } from '../../modules/published/module-name.js';
import { download, refusal } from '../../world/modules/download.js';
import { MODULE_BYTES_MAX, readModuleFile, sha256Of } from '../../world/modules/module-files.js';
import { formatOf } from './describe-module.js';
import type { ProjectModules } from './project-modules.js';
import { findInIndex, type IndexEntry } from './registry-index.js';

export interface FetchedModule {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly format: ModuleFormat;
  /** An address, or a path relative to the root of the project. */
  readonly source: string;
  readonly registry?: string;
  /** The version that the registry says it has. */
  readonly version?: string;
}

/** Fetches texts; each address of an index is asked once. */
export interface Fetcher {
  fromAddress(address: string): Promise<FetchedModule>;
  fromFile(absolute: string): Promise<FetchedModule>;
  fromRegistry(name: ModuleName): Promise<FetchedModule>;
  /** Returns what the registry has, without fetching the module. */
  lookUp(name: ModuleName): Promise<IndexEntry>;
}

const INDEX_BYTES_MAX = 32 * 1024 * 1024;
/** For one request with its redirects. */
const FETCH_TIME_MS = 30_000;

export function createFetcher({ root, registry }: ProjectModules, timeMs = FETCH_TIME_MS): Fetcher {
  let index: Promise<string> | undefined;

  async function fetched(address: string, bytesMax: number, what: string): Promise<Uint8Array> {
    const result = await download(address, { timeMs, bytesMax });
    if ('bytes' in result) return result.bytes;
    throw new MlldError('MODULE_FETCH', `${what} could not be fetched from ${address}: ${result.problem}`, {
      hint: refusal(address) === undefined ? REMEDY : 'addresses begin with https://; a file is named by its path',
    });
  }

  async function fromAddress(address: string, what = 'The module'): Promise<FetchedModule> {
    const format = URL.canParse(address) ? formatOf(new URL(address).pathname) : undefined;
    if (!format && refusal(address) === undefined) throw notAModule(address);
    const bytes = await fetched(address, MODULE_BYTES_MAX, what);
    return { bytes, sha256: sha256Of(bytes), format: format ?? 'mld', source: address };
  }

  async function lookUp(name: ModuleName): Promise<IndexEntry> {
    index ??= fetched(registry, INDEX_BYTES_MAX, 'The index of modules').then((bytes) => Buffer.from(bytes).toString('utf8'));
    const found = findInIndex(await index, name, registry);
    if (!('problem' in found)) return found;
    throw new MlldError('MODULE_NOT_FOUND', `${name.name} was not found in ${registry}: ${found.problem}`, {
      hint: `name its address or file: mlld modules add FILE --as ${name.name}; "modules.registry" in mlld-config.json names another index`,
    });
  }

  return {
    fromAddress,
    lookUp,
    async fromFile(absolute) {
      const written = path.relative(root, absolute).replaceAll(path.sep, '/');
      const format = formatOf(absolute);
      if (!format) throw notAModule(written);
      const read = await readModuleFile(absolute);
      if ('problem' in read)
        throw new MlldError('FILE_NOT_FOUND', `${written} can't be added: ${read.problem}`, {
          hint: 'name a .mld, .mld.md or .md file, an address, or @author/name',
        });
      return { bytes: read.bytes, sha256: sha256Of(read.bytes), format, source: written };
    },
    async fromRegistry(name) {
      const { address, version, sha256 } = await lookUp(name);
      const module = await fromAddress(address, name.name);
      if (sha256 !== undefined && sha256 !== module.sha256) {
        throw new MlldError('MODULE_CHANGED', `${name.name} is not what the registry says: the sha256 of ${address} differs`, {
          hint: `the registry has ${sha256}, the file ${module.sha256}: ask its author, or add the file by its address`,
        });
      }
      return { ...module, registry, ...(version !== undefined && { version }) };
    },
  };
}

const REMEDY = 'try again, or fetch the file yourself and add it: mlld modules add FILE --as @author/name';

function notAModule(source: string): MlldError {
  return new MlldError('MODULE_FORMAT', `${source} is not a module by its name`, {
    hint: 'the names of modules end in .mld, .mld.md or .md',
  });
}
