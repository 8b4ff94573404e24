/** Says how high the water is at an hour, from the times of high and low water. */
export function waterAt(hour, text) {
  const [high, low] = text.split(',').map((part) => parseInt(part));
  if (hour == high) return 'high';
  return hour == low ? 'low' : 'between';
}
