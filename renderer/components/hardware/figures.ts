// What the engine says in figures with a unit, as the window writes figures.

import * as bill from '../../../engine/hardware/bill.ts';
import * as line from '../../../engine/hardware/run-line.ts';
import { regional } from '../../lib/format.ts';

export const energyText = (kilowattHours: number): string => regional(bill.energyText(kilowattHours));
export const carbonText = (kilograms: number): string => regional(bill.carbonText(kilograms));
export const moneyText = (usd: number): string => regional(bill.moneyText(usd));
export const about = (range: readonly [number, number]): string => regional(line.about(range));
