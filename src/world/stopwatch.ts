/** Returns milliseconds since some moment. Reading `performance` for the first time takes longer than most of what is timed. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
