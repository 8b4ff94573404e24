/** Returns milliseconds since some moment. Reading `performance` for the first time takes longer than most of what is timed. */
export function monotonicMs(): number {
  const time = process.hrtime(); // taken apart by index: V8 takes several times as long for a pattern, and each call of a run reads the time
  return time[0] * 1000 + time[1] / 1e6;
}
