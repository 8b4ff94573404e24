// Medians, extremes and growth exponents. Missing measurements (NaN) do not count.

const known = (numbers) => numbers.filter(Number.isFinite);

export function median(numbers) {
  const sorted = known(numbers).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const least = (numbers) => Math.min(...known(numbers));
export const greatest = (numbers) => Math.max(...known(numbers));

/** k of y ~ x^k, by least squares over logarithms: 1 is linear, 2 quadratic. */
export function exponent(points) {
  const logs = points.filter(([x, y]) => x > 0 && y > 0).map(([x, y]) => [Math.log(x), Math.log(y)]);
  if (logs.length < 2) return NaN;
  const mean = (at) => logs.reduce((sum, point) => sum + point[at], 0) / logs.length;
  const [x0, y0] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0);
  return covariance / logs.reduce((sum, [x]) => sum + (x - x0) ** 2, 0);
}
