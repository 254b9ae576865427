// A laptop's battery and heat, turned by hand: runs are held only by choice, once, and let go when the cause or the choice has gone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { respectPower } from '../../electron/main/power.ts';
import { pauseBelowKey, pauseOnBatteryKey, pauseWhenHotKey } from '../../engine/protocol/choices.ts';

function setUp(choices: Record<string, unknown>) {
  const listeners = new Map<string, (details: { readonly limit: number }) => void>();
  const state = { battery: false, thermal: 'nominal' };
  const calls: string[] = [];
  const watched = respectPower({
    power: {
      isOnBatteryPower: () => state.battery,
      getCurrentThermalState: () => state.thermal,
      on: (event: string, listener: (details: { readonly limit: number }) => void) =>
        void listeners.set(event, listener),
    },
    runs: {
      async hold() {
        calls.push('hold');
        return async () => void calls.push('go on');
      },
    },
    store: { getSetting: async ({ key }) => choices[key] ?? null },
  });
  const turn = async (event: string, change: Partial<typeof state> = {}, limit = 100): Promise<readonly string[]> => {
    Object.assign(state, change);
    listeners.get(event)!({ limit });
    await watched.look();
    return calls.splice(0);
  };
  return { watched, turn };
}

test('without a choice neither battery nor heat holds anything', async () => {
  const { watched, turn } = setUp({});
  assert.deepEqual(await turn('on-battery', { battery: true }), []);
  assert.deepEqual(await turn('speed-limit-change', { thermal: 'critical' }, 10), []);
  assert.equal(watched.held, null);
  watched.stop();
});

test('on battery runs are held once, and go on with mains power or when the choice is taken back', async () => {
  const choices: Record<string, unknown> = { [pauseOnBatteryKey]: true };
  const { watched, turn } = setUp(choices);
  assert.deepEqual(await turn('on-battery', { battery: true }), ['hold']);
  assert.equal(watched.held, 'battery');
  assert.deepEqual(await turn('on-battery'), []);
  assert.deepEqual(await turn('on-ac', { battery: false }), ['go on']);
  assert.deepEqual(await turn('on-battery', { battery: true }), ['hold']);
  choices[pauseOnBatteryKey] = false;
  assert.deepEqual(await turn('thermal-state-change'), ['go on']);
  assert.equal(watched.held, null);
  watched.stop();
});

test('a hot computer holds runs until it has cooled down well below where they were held', async () => {
  const { watched, turn } = setUp({ [pauseWhenHotKey]: true });
  assert.deepEqual(await turn('thermal-state-change', { thermal: 'fair' }), []);
  assert.deepEqual(await turn('thermal-state-change', { thermal: 'serious' }), ['hold']);
  assert.equal(watched.held, 'heat');
  assert.deepEqual(await turn('thermal-state-change', { thermal: 'nominal' }), ['go on']);
  assert.deepEqual(await turn('speed-limit-change', {}, 55), ['hold']);
  assert.deepEqual(await turn('speed-limit-change', {}, 80), []);
  assert.deepEqual(await turn('speed-limit-change', {}, 95), ['go on']);
  watched.stop();
});

test('a low battery holds runs below the percent that is chosen, until it charges or is well above it', async () => {
  const choices: Record<string, unknown> = { [pauseBelowKey]: 20 };
  const { watched, turn } = setUp(choices);
  const holds = async (share: number | null): Promise<readonly string[]> => {
    watched.tellBattery(share);
    return turn('on-battery', { battery: share !== null });
  };
  assert.deepEqual(await holds(0.2), []);
  assert.deepEqual(await holds(0.19), ['hold']);
  assert.equal(watched.held, 'low-battery');
  assert.deepEqual(await holds(0.21), [], 'its figure wavers');
  assert.deepEqual(await holds(0.23), ['go on']);
  assert.deepEqual(await holds(0.05), ['hold']);
  assert.deepEqual(await holds(null), ['go on']);
  assert.deepEqual(await holds(0.1), ['hold']);
  choices[pauseBelowKey] = null;
  assert.deepEqual(await holds(0.1), ['go on']);
  watched.stop();
});
