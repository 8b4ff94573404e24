/** Reads the list of berths; an empty list if there is none. */
export function readBerths(read) {
  try {
    return JSON.parse(read('berths.json'));
  } catch {}
  return [];
}
