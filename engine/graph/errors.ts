// Errors of the graph layer. They mark defects of ours, never bad input: models are validated before graphs are built.

export class GraphError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GraphError';
  }
}

/** `[32,784]` */
export const formatShape = (shape: readonly number[]): string => `[${shape.join(',')}]`;
