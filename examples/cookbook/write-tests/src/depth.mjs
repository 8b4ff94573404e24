/** Says whether a ship of this draught may enter, with half a metre of water below it. */
export function mayEnter(draught, depth) {
  return depth - draught >= 0.5;
}
