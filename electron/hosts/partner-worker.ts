// Entry of a worker thread that is a CPU of its own for a run on several devices: its own memory, kernels and threads.

import { parentPort, workerData } from 'node:worker_threads';
import { threadPort } from '../../engine/protocol/port.node.ts';
import { servePartner } from '../../engine/backends/together/partner.ts';
import { openCpu, type TrustedCpuOptions } from './trusted-cpu.ts';

servePartner(threadPort(parentPort!), () => openCpu(workerData as TrustedCpuOptions));
