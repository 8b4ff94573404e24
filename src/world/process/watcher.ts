/**
 * Starts a process beside a run that ends the run's programs when the run is killed: SIGKILL leaves the run no time to do it. The watcher
 * reads from a pipe which process groups there are; the pipe ends with the run, however that ends.
 *
 * WATCHER-1 A program starts to work only behind `add`, so a kill at any moment leaves no group that the watcher doesn't know.
 * WATCHER-2 `remove` is called for an ended group before its number can be reused, so no other group is signalled.
 * WATCHER-3 The watcher keeps nothing alive and nothing busy: it has a session of its own, so Ctrl-C doesn't reach it, and ends with the
 *    pipe.
 *
 * While it can't be started, or when it is killed itself, a later run finds what was left (`orphans.ts`).
 */
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

export interface Watcher {
  add(processGroup: number): void;
  remove(processGroup: number): void;
  /** Must be called when nothing is left to watch: the watcher then ends by itself, which is not awaited. */
  end(): void;
}

/** `graceMs` is the time from SIGTERM to SIGKILL. */
export function createWatcher(environment: Readonly<Record<string, string>>, graceMs: number): Watcher {
  let watching: ChildProcess | undefined;
  const groups = new Set<number>();
  const send = (line: string): void => void (watching?.stdin as Writable | null | undefined)?.write(`${line}\n`);
  return {
    add(processGroup) {
      groups.add(processGroup);
      if (watching) send(`+ ${processGroup}`);
      else {
        watching = startWatching(environment, graceMs);
        for (const group of groups) send(`+ ${group}`);
      }
    },
    remove(processGroup) {
      groups.delete(processGroup);
      send(`- ${processGroup}`);
    },
    end: () => void watching?.stdin?.end(),
  };
}

/** Undefined where the system has no room for it now: the next program makes another try. */
function startWatching({ PATH = '/usr/bin:/bin' }: Readonly<Record<string, string>>, graceMs: number): ChildProcess | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn('sh', ['-c', 'eval "$PROGRAM"', 'mlld-watcher', String(Math.ceil(graceMs / POLL_MS))], {
    cwd: '/',
    env: { PATH, PROGRAM },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  if (child.pid === undefined) return undefined;
  child.stdin.on('error', () => undefined); // it was killed
  child.unref();
  (child.stdin as Writable & { unref(): void }).unref(); // it is a socket
  return child;
}

const POLL_MS = 100;

/** Keeps the groups in `g` with a blank on either side, and ends those that are left at the end of the input. */
const PROGRAM = `
g=' '
while read -r what p; do
  case $what in
    +) g="$g$p " ;;
    -) case $g in *" $p "*) g="\${g%% $p *} \${g#* $p }" ;; esac ;;
  esac
done
for p in $g; do kill -s TERM -- "-$p"; done
while [ "$g" != ' ' ] && [ "$1" -gt 0 ]; do
  left=' '
  for p in $g; do kill -s 0 -- "-$p" && left="$left$p "; done
  g=$left
  [ "$g" = ' ' ] || sleep 0.1
  set -- $(($1 - 1))
done
for p in $g; do kill -s KILL -- "-$p"; done
`;
