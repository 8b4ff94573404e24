/** What a ship pays for its nights, in cents. */
export function bill(tons, nights) {
  const perNight = tons > 500 ? 9000 : 4000;
  return perNight * nights;
}
