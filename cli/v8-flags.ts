/**
 * Tunes V8 for commands that end within a second or two. V8 prints a line on stderr for a flag that it does not know, and does not
 * list the flags that it knows. So every flag names the versions of V8 that were seen to know it (test/cli/program/v8-flags.test.ts holds
 * the table to the flags that the running V8 lists), and any other version, a newer one too, does without the flag.
 */

interface Tuning {
  /** Sets what V8 has by itself. Absent for a flag that V8 does not look at when it judges a cache. */
  readonly own?: string;
  /** Set before the program is compiled. */
  readonly first: string;
  /** Set when the space of young objects has grown to `YOUNG_BYTES`, unless the command counts as a long one by then. */
  readonly grown?: string;
  /** Set for a command that has used `WARM_CPU_MS`. */
  readonly warm?: string;
  /** Set for a long command. */
  readonly later?: string;
  /** Versions of V8, as major and minor, inclusive. */
  readonly from: Version;
  readonly to: Version;
}

type Version = readonly [major: number, minor: number];

/** A command that has used so much processor time has the code of its calls optimized; most commands end before. */
const WARM_CPU_MS = 400;
/** A command that has used so much processor time is tuned for a long run; one that waits for models all the time is none. */
const LONG_CPU_MS = 1500;
/** The processor time is looked at when the command can have used it up, and at least so much later. */
const LOOK_CPU_MS = 50;
/** The space of young objects is looked at so often, for about 10 µs, until it has grown. */
const LOOK_MS = 50;
/** That space has a little less than 1, 2, 4, … MB, and is not to have more than 8. */
const YOUNG_BYTES = 6 * 2 ** 20;
const YOUNG_BYTES_MAX = 8 * 2 ** 20;
const GROWTH = '--semi-space-growth-factor=';

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
   * The space of young objects begins with a megabyte and grows by this factor, in V8 itself to 16 MB and more. Each page of it that is
   * used for the first time costs a fault, which took longer than all collections of a run of some hundred calls: few objects survive
   * one. So the space grows to 8 MB, in one step, which was quicker than two, and stays so: with 4 MB runs of 10,000 calls took 4 %
   * longer, with 16 MB those of 732 calls 6 %. Later versions gain less, and of 1,500 commands in which they were told so one did not end
   * within a minute (decision 0006).
   */
  {
    own: `${GROWTH}2`,
    first: `${GROWTH}8`,
    grown: `${GROWTH}1`,
    from: OLDEST,
    to: OLDEST,
  },
  /**
   * The bytes of bytecode that a function executes before V8 considers optimizing it. With V8's own 66 KB a third of the processor
   * time of a run of ten thousand calls went into optimizing code that was about to end; with several megabytes such a run was never
   * optimized and took a fifth longer, while one of some hundred calls takes the same either way. Hot loops in the code of a script are
   * optimized while they run, whatever is set here. Later versions have a quick compiler in between, and count invocations instead: no
   * other number was faster there than V8's own.
   */
  { own: '--interrupt-budget=67584', first: '--interrupt-budget=400000', from: OLDEST, to: OLDEST },
  /**
   * The number of times that a function uses that budget up before it is optimized. The way of a call leads through some hundred functions,
   * and to optimize one takes a millisecond of another thread. With V8's own 3, and a few more for a longer function, that took a tenth of
   * the processor time of a run of two thousand calls. One of ten thousand is optimized in time to get it back (decision 0006).
   */
  {
    own: '--ticks-before-optimization=3',
    first: '--ticks-before-optimization=30',
    warm: '--ticks-before-optimization=5',
    from: OLDEST,
    to: OLDEST,
  },
  /** The bytes of bytecode up to which V8 optimizes a function the first time that it uses its budget up. Most functions here are short. */
  { own: '--max-bytecode-size-for-early-opt=81', first: '--max-bytecode-size-for-early-opt=0', from: OLDEST, to: OLDEST },
  /**
   * The bytes of bytecode that V8 takes into an optimized function from the functions that it calls. With V8's own 920 optimizing the code
   * of a call takes a fifth longer, which a run of ten thousand calls does not get back; a longer one does. Code of a
   * script that consists of little methods of numbers is a fifth slower where it is optimized before.
   */
  {
    own: '--max-inlined-bytecode-size-cumulative=920',
    first: '--max-inlined-bytecode-size-cumulative=300',
    later: '--max-inlined-bytecode-size-cumulative=920',
    from: OLDEST,
    to: OLDEST,
  },
  /** A heap that is small still is marked quicker at once than in steps and by other threads. */
  { own: '--incremental-marking', first: '--no-incremental-marking', later: '--incremental-marking', from: OLDEST, to: NEWEST },
  /**
   * A thread that compiles in the background may wait for a garbage collection of the main thread, which at the exit of Node waits for that
   * thread: of some hundred commands on a busy machine one never ended. Earlier versions compile this code in the main thread anyway.
   */
  { first: '--no-concurrent-sparkplug', from: [13, 6], to: NEWEST },
  /** A regular expression of a script that backtracks too much goes over to the linear engine: `src/values/methods/regex.ts`. */
  {
    own: '--no-enable-experimental-regexp-engine',
    first: '--enable-experimental-regexp-engine',
    from: OLDEST,
    to: NEWEST,
  },
  {
    own: '--no-enable-experimental-regexp-engine-on-excessive-backtracks',
    first: '--enable-experimental-regexp-engine-on-excessive-backtracks',
    from: OLDEST,
    to: NEWEST,
  },
];

export interface V8Flags extends Record<'own' | 'first' | 'grown' | 'warm' | 'later', readonly string[]> {}

/** Each returns what the function returns that it calls, and sets the flags back. */
export interface FlagSwitch {
  /** Compiles, or reads what was compiled, under the flags of a command that begins: START-4 in `bin.ts`. */
  readonly ofStart: <T>(compile: () => T) => T;
  /** Loads a module of Node under V8's own flags: START-6 in `bin.ts`. */
  readonly ofNode: <T>(load: () => T) => T;
}

/** `cpuUsage` returns microseconds. */
export type RunningNode = Pick<typeof process, 'cpuUsage'> & { readonly versions: Pick<NodeJS.ProcessVersions, 'v8'> };

/** Sets the flags of a command that begins whenever something is compiled, and others while it runs. */
export function tuneV8(v8: Pick<typeof import('node:v8'), 'setFlagsFromString' | 'getHeapSpaceStatistics'>, node: RunningNode): FlagSwitch {
  const { own, first, grown, warm, later } = v8FlagsFor(node.versions.v8);
  const set = (flags: readonly string[]): void => {
    for (const flag of flags) v8.setFlagsFromString(flag);
  };
  const changed: string[] = [];
  const change = (flags: readonly string[]): void => {
    changed.push(...flags);
    set(flags);
  };
  const youngBytes = (): number => {
    const young = v8.getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    return young === undefined ? 0 : young.space_used_size + young.space_available_size;
  };
  const look = (): void => {
    if (youngBytes() < YOUNG_BYTES) return;
    clearInterval(looking);
    change(grown);
  };
  const looking = grown.length > 0 ? setInterval(look, LOOK_MS).unref() : undefined;
  /** Lets the space grow to its size from what it has by now: where V8's own flags are set, it grows by V8's own factor. */
  const fitGrowth = (): void => {
    if (looking === undefined || changed.includes(grown[0] as string)) return;
    const factor = Math.round(YOUNG_BYTES_MAX / youngBytes());
    if (factor > 1 && factor < 8) change([`${GROWTH}${factor}`]);
  };
  const onceUsed = (cpuMs: number, then: () => void): void => {
    const { user, system } = node.cpuUsage();
    const leftMs = cpuMs - (user + system) / 1000;
    if (leftMs > 0) setTimeout(() => onceUsed(cpuMs, then), Math.max(leftMs, LOOK_CPU_MS)).unref();
    else then();
  };
  const beLong = (): void => {
    clearInterval(looking);
    change(later);
  };
  const beWarm = (): void => {
    change(warm);
    onceUsed(LONG_CPU_MS, beLong);
  };
  if (first.length > 0) onceUsed(WARM_CPU_MS, beWarm);
  return {
    ofStart(compile) {
      set(first);
      const compiled = compile();
      set(changed);
      return compiled;
    },
    ofNode(load) {
      set(own);
      try {
        return load();
      } finally {
        set(first);
        set(changed);
        fitGrowth();
      }
    },
  };
}

/** `version` as in `process.versions.v8`: `13.6.233.17-node.53`. */
export function v8FlagsFor(version: string): V8Flags {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const running: Version = [major, minor];
  const known = TUNINGS.filter(({ from, to }) => compare(from, running) <= 0 && compare(running, to) <= 0);
  return {
    own: known.flatMap(({ own }) => own ?? []),
    first: known.map(({ first }) => first),
    grown: known.flatMap(({ grown }) => grown ?? []),
    warm: known.flatMap(({ warm }) => warm ?? []),
    later: known.flatMap(({ later }) => later ?? []),
  };
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}
