// Writes the lists of kernels and of learners anew, from their folders.

import { writeKernelLists } from './list-kernels.ts';
import { writeLearnerLists } from './list-learners.ts';

writeKernelLists();
writeLearnerLists();
