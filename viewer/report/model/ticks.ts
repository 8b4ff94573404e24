/** Finds the ticks of a time axis: round numbers, and labels that differ. */

export interface Tick {
  readonly ms: number;
  readonly label: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240].map((hours) => hours * HOUR),
];

/** Milliseconds since the start of the run; at most `most` ticks. */
export function ticksBetween(from: number, to: number, most: number): readonly Tick[] {
  const least = (to - from) / Math.max(most, 1);
  const step = STEPS.find((each) => each >= least) ?? Math.ceil(least / HOUR) * HOUR;
  const ticks: Tick[] = [];
  for (let ms = Math.ceil(from / step) * step; ms <= to && ticks.length < most; ms += step) ticks.push({ ms, label: labelOf(ms, step) });
  return ticks;
}

/** `0:04.250` where steps are below a second, `1:05` below an hour, `2:15:00` behind it. */
function labelOf(ms: number, step: number): string {
  const whole = Math.floor(ms / SECOND);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const parts = hours > 0 ? [String(hours), two(minutes), two(whole % 60)] : [String(minutes), two(whole % 60)];
  const fraction = step % SECOND === 0 ? '' : `.${String(ms % SECOND).padStart(3, '0')}`;
  return `${parts.join(':')}${fraction}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
