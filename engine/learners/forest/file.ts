// What the model file of a random forest holds besides its settings.

import { treesFile } from '../trees/model-schema.ts';

export const file = treesFile;
