// Where the state lies by the variables of a session: the same folder wherever a command is called.

import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { homeFolder } from '../../engine/system/home-folder.ts';

test('TRAINYARD_HOME decides, made absolute; an empty one does not count', () => {
  assert.equal(homeFolder({ TRAINYARD_HOME: 'here' }), path.resolve('here'));
  assert.ok(path.isAbsolute(homeFolder({ TRAINYARD_HOME: '' })));
});

test(
  'an XDG_CONFIG_HOME that is empty or relative does not count: runs landed in the folder one was in',
  { skip: ['win32', 'darwin'].includes(process.platform) },
  () => {
    const usual = path.join(os.homedir(), '.config', 'Trainyard');
    assert.equal(homeFolder({ XDG_CONFIG_HOME: '/data/config' }), '/data/config/Trainyard');
    for (const set of [undefined, '', 'config', './config']) assert.equal(homeFolder({ XDG_CONFIG_HOME: set }), usual);
  },
);
