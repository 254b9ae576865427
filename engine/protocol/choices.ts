// Keys of a person's choices that the main process follows; the window writes them, the history keeps them. Absent = on, unless it says otherwise.

/** A note of the system's when a long run has ended while the window was out of sight. */
export const notifyKey = 'app.notify';
/** The machine does not go to sleep while a run trains. */
export const keepAwakeKey = 'app.keep-awake';

/** Runs pause while the computer is on battery, or too hot. Absent = off: both are a person's choice. */
export const pauseOnBatteryKey = 'app.pause-on-battery';
export const pauseWhenHotKey = 'app.pause-when-hot';

/** Runs pause while the battery discharges and holds less than so many percent. Absent = never. */
export const pauseBelowKey = 'app.pause-below-battery';
/** Percent that are offered. */
export const batteryFloors: readonly number[] = [10, 20, 30, 50, 80];

/** Why runs are held. */
export type PowerHold = 'battery' | 'low-battery' | 'heat';

export const powerHoldWords: Readonly<Record<PowerHold, string>> = {
  battery: 'This computer is on battery: runs pause, and go on by themselves with mains power.',
  'low-battery': 'The battery is low: runs pause, and go on by themselves once it charges.',
  heat: 'This computer is too hot: runs pause, and go on by themselves when it has cooled down.',
};
