/** The fee of a night in cents: ships above 500 tons pay more, and every seventh night is free. */
export function fee(tons, nights) {
  const perNight = tons > 500 ? 9000 : 4000;
  return perNight * (nights - Math.floor(nights / 7));
}
