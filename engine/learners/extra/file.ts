// What the model file of extra trees holds besides its settings.

import { treesFile } from '../trees/model-schema.ts';

export const file = treesFile;
