/** The height of the water, in metres. */
export function heightAt(tides, hour) {
  const tide = tides.find((candidate) => candidate.hour == hour);
  return tide.height;
}
