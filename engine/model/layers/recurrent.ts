// Recurrent layers: LSTM (Hochreiter & Schmidhuber 1997) and GRU (Cho et al. 2014), with the equations, biases and first values of PyTorch's. L
// positions, D values a position, U units, G gates.

import { cellGates, mostUnits, type Cell } from '../../../kernels/recurrence-shape.ts';
import type { ValueId } from '../../graph/graph.ts';
import { ModelError } from '../errors.ts';
import { defineLayer, layerFields, type LayerDef } from '../layer.ts';
import { eachPosition } from './dense.ts';

type Direction = 'forward' | 'backward' | 'both';

/** Beginnings of the names of the tensors of each way that is gone. */
const ways = (direction: Direction): readonly string[] =>
  direction === 'both' ? ['', 'back_'] : [direction === 'forward' ? '' : 'back_'];

function recurrentLayer(cell: Cell, title: string, summary: string): LayerDef {
  const gates = cellGates[cell];
  return defineLayer({
    type: cell,
    title,
    summary,
    group: 'text',
    positions: 'keeps',
    looksAhead: ({ direction }) => direction !== 'forward',
    fields: layerFields({
      units: {
        kind: 'number',
        whole: true,
        label: 'Units',
        help: 'values it remembers, and gives at each position',
        minimum: 1,
        maximum: mostUnits,
        default: 128,
      },
      direction: {
        kind: 'choice',
        label: 'Direction',
        help: 'which way it reads; both ways side by side give twice the values',
        choices: { forward: 'Forward', backward: 'Backward', both: 'Both ways' },
        default: 'forward',
      },
    }),
    shape: ([input], { units, direction }, { positions }) => {
      if (positions === null) {
        throw new ModelError(`${title} needs a sequence.`, 'Add a Token embedding or a Sequence layer before it.');
      }
      return [input[0], units * ways(direction).length];
    },
    parameters: ([[, width]], { units, direction }) => {
      const initializer = { kind: 'uniform_fan_in', fanIn: units } as const;
      return ways(direction).flatMap((way) => [
        { name: `${way}in_weight`, shape: [width, gates * units], initializer, decay: true },
        { name: `${way}weight`, shape: [units, gates * units], initializer, decay: true },
        { name: `${way}in_bias`, shape: [gates * units], initializer, decay: false },
        { name: `${way}bias`, shape: [gates * units], initializer, decay: false },
      ]);
    },
    build: ({ graph, args: { direction }, tensor, lengths }, [x]) => {
      const read = ways(direction).map((way): ValueId => {
        const products = eachPosition(graph, x, (rows) =>
          graph.one('dense', [rows, tensor(`${way}in_weight`), tensor(`${way}in_bias`)], {
            activation: 'none',
            slope: 0,
          }),
        );
        const operands = [products, tensor(`${way}weight`), tensor(`${way}bias`), lengths()];
        return graph.apply('recurrence', operands, { cell, reverse: way !== '' })[0];
      });
      return read.length === 1 ? read[0] : graph.one('concat', read, { axis: 2 });
    },
    flops: ([[length, width]], _, { units, direction }) =>
      ways(direction).length * length * gates * units * (2 * width + 2 * units + 8),
  });
}

export const lstm = recurrentLayer(
  'lstm',
  'LSTM',
  'Reads a sequence position by position with a memory whose gates are learned.',
);

export const gru = recurrentLayer(
  'gru',
  'GRU',
  'Reads a sequence position by position with a memory, as an LSTM, with a quarter less weights.',
);
