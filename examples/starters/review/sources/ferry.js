// TODO: read the speed from the configuration
export const KNOTS = 12;

export const minutesFor = (miles) => (miles / KNOTS) * 60;
