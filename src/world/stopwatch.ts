/** Milliseconds since some moment. `performance.now()` would do, but the first look at `performance` takes longer than most of what is timed. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
