// Entry of the process of one run that `queue run` trains: a plain Node process, or a utility process of the installed app. It lives as long
// as the command that started it, which keeps what it hands over.

import { announceReady } from '../../engine/protocol/port.ready.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import { leaveSignals, portOfParent } from '../hosts/parent.ts';
import { reportOwnFailures } from '../hosts/uncaught.ts';
import { trainerOn } from './hosts.ts';
import { rowsBehind } from './training-process.ts';

reportOwnFailures('training');
const port = portOfParent();
leaveSignals();
// Whatever its threads are at: there is nobody left to tell.
port.onClose(() => process.kill(process.pid, 'SIGKILL'));
serve<TrainerHost>(port, trainerOn(rowsBehind(port)));
announceReady(port);
