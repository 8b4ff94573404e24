/** Node's other clocks are functions around one of the system and take twice as long. Each call of a run reads the time six times. */
const { uptime } = process;

/** Returns milliseconds since the process began. */
export function monotonicMs(): number {
  return uptime() * 1000;
}
