/**
 * Files that a call wrote and its arguments name: kept with its result, and restored when that is reused. calls.md 22.
 *
 * CALL-FILE-1  Content is a durable blob before `call.completed` names it: a kill leaves a call without a result, or with all its files.
 * CALL-FILE-2  A file with other content is never replaced, unless this run itself restored it for a call that was recorded before.
 * CALL-FILE-3  Nothing is restored before every file of the call is found, and only files that the arguments of now name: a recorded path
 *    alone writes nothing.
 * CALL-FILE-4  There is no port where nothing is recorded, and in a replay: then nothing is looked at.
 * CALL-FILE-5  A call stands for the files of the calls inside it, because a reuse of its result does not look those up: where one of
 *    them is missing, it is executed again, and the call that wrote the file restores it.
 */
import type { Json, OutputFile, ReusedOutput } from '../../../journal/event.js';
import type { WrittenFile } from '../../../journal/facts/call-event.js';
import type { Attempt } from '../../calls/attempt.js';
import { namedFiles } from '../../calls/files/named-files.js';
import type { CallOptions } from '../../calls/options.js';
import type { Awaitable } from '../../runtime/awaitable.js';
import type { CallFiles, FilesBefore, FoundFiles } from '../../runtime/calls/call-files.js';
import type { CallRequest } from '../../runtime/calls/call-key.js';
import type { CachedResult } from '../../runtime/calls/result-cache.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { toJson } from '../../values/native.js';
import type { CacheableCall, CallIdentity } from '../cacheable-call.js';

/** Looks at the named files of a call before its first attempt, and keeps those that its attempts wrote. */
export class CallFileWatch {
  private readonly port: CallFiles | undefined;
  private before: FilesBefore | undefined;

  constructor(
    private readonly call: CacheableCall,
    private readonly identity: CallIdentity,
    options: CallOptions,
  ) {
    this.port = portFor(call, options);
  }

  /** Returns a promise only if an argument names a file, or its command runs in a folder of its own. */
  begin(): Promise<void> | undefined {
    const { port, call } = this;
    if (!port) return undefined;
    const folder = folderOf(call);
    return folder ? folder.then((found) => this.look(port, found)) : this.look(port, undefined);
  }

  private look(port: CallFiles, folder: string | undefined): Promise<void> | undefined {
    const paths = pathsOf(this.call, this.identity.request, folder);
    return paths.length === 0 ? undefined : port.look(paths).then((before) => void (this.before = before));
  }

  /**
   * `isSealed`: the result is secret. Undefined when neither the call nor a call inside it wrote a file that it names; then it returns no
   * promise.
   */
  end(isSealed: boolean, outputs: readonly OutputFile[] = [], attempt?: Attempt): Awaitable<readonly WrittenFile[] | undefined> {
    return this.before || attempt?.innerFiles ? this.written(isSealed, outputs, attempt) : undefined;
  }

  private async written(
    isSealed: boolean,
    outputs: readonly OutputFile[],
    attempt: Attempt | undefined,
  ): Promise<readonly WrittenFile[] | undefined> {
    const own = await this.ownFiles(isSealed, outputs);
    const except = new Set([...own, ...outputs].map(({ path }) => path));
    const inner = [...(attempt?.innerFiles?.values() ?? [])].filter(({ path }) => !except.has(path));
    const files = [...own, ...inner];
    this.call.around?.hadFiles(files);
    return files.length === 0 || !this.port ? undefined : files;
  }

  private async ownFiles(isSealed: boolean, outputs: readonly OutputFile[]): Promise<readonly WrittenFile[]> {
    const { port, before, identity, call } = this;
    if (!port || !before) return [];
    const { secrets } = call.run;
    return port.keep(before, {
      except: new Set(outputs.map(({ path }) => path)),
      isSecret: isSealed || identity.hasSecret || call.operation.inputs.some(isSecret),
      hidesText: secrets.isEmpty ? undefined : (text) => secrets.appearIn(text),
    });
  }
}

/** The files of a recorded result as they are now. */
export interface ReusableFiles {
  /** Not empty: the result can't be reused. */
  readonly gone: readonly string[];
  /** Calls inside this one wrote them, and restore them when it is executed again. */
  readonly areInner: boolean;
  /** Restores them. */
  restore(): Promise<readonly ReusedOutput[]>;
}

const NO_FILES: ReusableFiles = { gone: [], areInner: false, restore: async () => [] };

/** Looks at the files of a recorded result, and changes nothing. */
export async function findFiles(
  call: CacheableCall,
  { request }: CallIdentity,
  known: CachedResult,
  options: CallOptions,
): Promise<ReusableFiles> {
  const port = known.files && portFor(call, options);
  if (!port || !known.files) return NO_FILES;
  const named = new Set(pathsOf(call, request, await folderOf(call)));
  const files = known.files.filter(({ path, inner }) => inner || named.has(path)); // CALL-FILE-3, CALL-FILE-5
  if (files.length === 0) return NO_FILES;
  const found: FoundFiles = await port.find(files);
  return {
    gone: found.gone,
    areInner: files.every(({ path, inner }) => inner || !found.gone.includes(path)),
    restore: () => {
      call.around?.hadFiles(files);
      return port.restore(files, found, { fn: request.fn, op: call.op.path, from: known.from });
    },
  };
}

function portFor({ run: { cache } }: CacheableCall, { files }: CallOptions): CallFiles | undefined {
  const { callFiles } = cache;
  return callFiles && (files === undefined ? callFiles.keepsByDefault : files === 'keep') ? callFiles : undefined;
}

function folderOf({ llm, operation: { inputs } }: CacheableCall): Promise<string | undefined> | undefined {
  return llm.folder?.(inputs);
}

/**
 * Commands run in the project's folder or in `folder`, `js` bodies where mlld was started: a relative path may mean any of them.
 */
function pathsOf(
  { run: { settings }, operation: { inputs } }: CacheableCall,
  { args, via }: CallRequest,
  folder: string | undefined,
): readonly string[] {
  const { projectRoot: root, workingDirectory } = settings;
  // With the option `key` the request lacks some arguments; a wrapper forwards others than its own.
  let all: readonly Json[] = via ? [...args, ...via.args] : args;
  for (let i = 0; i < inputs.length; i++) {
    const given = toJson(inputs[i]);
    if (!args.includes(given)) all = [...all, given]; // mostly a call is identified by its arguments as they are
  }
  const bases = [root, workingDirectory, folder ?? root];
  return namedFiles(all, { root, bases });
}
