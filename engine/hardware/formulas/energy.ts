// Energy, its price and its carbon.

/**
 * kWh of `hours` of training: (device W · load + host W) · hours · PUE / 1000. PUE is what a building adds: 1 at home, 1.54 the
 * mean of data centres in 2025, about 1.1 at the best.
 */
export function energy(
  watts: { readonly device: number; readonly load?: number; readonly host?: number },
  hours: number,
  pue = 1,
): number {
  return ((watts.device * (watts.load ?? 1) + (watts.host ?? 0)) * hours * pue) / 1000;
}

/** USD of energy at a tariff in USD a kWh. */
export const energyCost = (kilowattHours: number, tariff: number): number => kilowattHours * tariff;

/** kg of CO₂ of energy from a grid of `gramsPerKilowattHour`. */
export const carbon = (kilowattHours: number, gramsPerKilowattHour: number): number =>
  (kilowattHours * gramsPerKilowattHour) / 1000;

/** Share of its rated power that a device draws in training where nothing measures it, and watts a CPU thread. */
export const assumedLoad = { low: 0.7, high: 0.9 } as const;
export const wattsPerThread = 4;

/** Sockets at home: what may be drawn for hours is 80 % of what trips them. Watts. */
export const sockets = { us: 0.8 * 15 * 120, eu: 0.8 * 16 * 230 } as const;
