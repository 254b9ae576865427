// Keys of a person's choices that the main process follows; the window writes them, the history keeps them. Absent = on.

/** A note of the system's when a long run has ended while the window was out of sight. */
export const notifyKey = 'app.notify';
/** The machine does not go to sleep while a run trains. */
export const keepAwakeKey = 'app.keep-awake';
