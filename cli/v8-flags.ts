/**
 * Tunes V8 for commands that end within a second or two. V8 prints a line on stderr for a flag that it does not know, and does not
 * list the flags that it knows. So every flag names the versions of V8 that were seen to know it (test/cli/program/v8-flags.test.ts holds
 * the table to the flags that the running V8 lists), and any other version, a newer one too, does without the flag.
 */

interface Tuning {
  /** Set before the program is compiled. */
  readonly first: string;
  /** Set for a command that runs for longer than two seconds. */
  readonly later?: string;
  /** Versions of V8, as major and minor, inclusive. */
  readonly from: Version;
  readonly to: Version;
}

type Version = readonly [major: number, minor: number];

/** V8 of Node 20.19, and of Node 26. */
const [OLDEST, NEWEST]: readonly [Version, Version] = [
  [11, 3],
  [14, 6],
];

const TUNINGS: readonly Tuning[] = [
  /**
   * Young garbage is collected by one thread: recorded results are mere copying, and more threads spend their time on each other.
   */
  { first: '--no-parallel-scavenge', from: OLDEST, to: NEWEST },
  /**
   * The space of young objects grows by this factor, and begins with a megabyte. With V8's own factor of 2, a run of two thousand calls was
   * collected thirty times, most of them before the space had its size; with 4 it is eighteen times, and 4 % less processor time. Later
   * versions took as long with either factor.
   */
  { first: '--semi-space-growth-factor=4', from: OLDEST, to: OLDEST },
  /**
   * The bytes of bytecode that a function executes before V8 considers optimizing it. With V8's own 132 KB a third of the processor
   * time of a run of ten thousand calls went into optimizing code that was about to end; with several megabytes such a run was never
   * optimized and took a fifth longer, while one of some hundred calls takes the same either way. Hot loops in the code of a script are
   * optimized while they run, whatever is set here. Later versions have a quick compiler in between, and count invocations instead: no
   * other number was faster there than V8's own.
   */
  { first: '--interrupt-budget=400000', from: OLDEST, to: OLDEST },
  /**
   * The bytes of bytecode that V8 takes into an optimized function from the functions that it calls. With V8's own 920 optimizing the code
   * of a call takes a fifth longer, which a run of ten thousand calls does not get back; a longer one does, after two seconds. Code of a
   * script that consists of little methods of numbers is a fifth slower where it is optimized before.
   */
  {
    first: '--max-inlined-bytecode-size-cumulative=300',
    later: '--max-inlined-bytecode-size-cumulative=920',
    from: OLDEST,
    to: OLDEST,
  },
  /** A heap that is small still is marked quicker at once than in steps and by other threads. */
  { first: '--no-incremental-marking', later: '--incremental-marking', from: OLDEST, to: NEWEST },
  /**
   * A thread that compiles in the background may wait for a garbage collection of the main thread, which at the exit of Node waits for that
   * thread: of some hundred commands on a busy machine one never ended. Earlier versions compile this code in the main thread anyway.
   */
  { first: '--no-concurrent-sparkplug', from: [13, 6], to: NEWEST },
  /** A regular expression of a script that backtracks too much goes over to the linear engine: `src/values/methods/regex.ts`. */
  { first: '--enable-experimental-regexp-engine', from: OLDEST, to: NEWEST },
  { first: '--enable-experimental-regexp-engine-on-excessive-backtracks', from: OLDEST, to: NEWEST },
];

export interface V8Flags {
  readonly first: readonly string[];
  readonly later: readonly string[];
}

/** `version` as in `process.versions.v8`: `13.6.233.17-node.53`. */
export function v8FlagsFor(version: string): V8Flags {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const running: Version = [major, minor];
  const known = TUNINGS.filter(({ from, to }) => compare(from, running) <= 0 && compare(running, to) <= 0);
  return { first: known.map(({ first }) => first), later: known.flatMap(({ later }) => later ?? []) };
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}
