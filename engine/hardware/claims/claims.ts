// All claims: 79 rows of five articles, those that say the same as one.

import { choosingClaims } from './choosing.ts';
import { machineClaims } from './machine.ts';
import type { Claim } from './claim.ts';
import { modelClaims } from './models.ts';

export const claims: readonly Claim[] = [...machineClaims, ...modelClaims, ...choosingClaims];
