/** Lets the window take input and draw, between two pieces of work that are long together. */
export const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
