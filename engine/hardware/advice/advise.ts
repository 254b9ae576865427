// Advice: rules in order, each with the number that made it fire; what misses the deadline or the budget comes after what keeps
// them; what is not advised is listed with its reason.

import { about } from '../run-line.ts';
import {
  neededOn,
  type DeviceFact,
  type Facts,
  type Needs,
  type Range,
  type Reason,
  type Recommendation,
} from './facts.ts';
import { elsewhereActions } from './elsewhere.ts';
import { hereActions } from './here.ts';
import { gigabytes, hereSuffices, reason, standardRules, type Fired, type Rule, type Rules } from './rules.ts';
import { togetherActions } from './together.ts';

const actions = new Map(Object.entries({ ...hereActions, ...elsewhereActions, ...togetherActions }));
/** Rules that get hardware from elsewhere: pointless where this machine is done in time. */
const elsewhere = new Set(Object.keys({ ...elsewhereActions, ...togetherActions }));
/** Rules after whose firing no other device is looked for. */
const final = new Set(['no-network', 'finishes-soon']);

/** Ranked recommendations, then those not advised (rank 0). */
export function advise(needs: Needs, facts: Facts, rules: Rules = standardRules): Recommendation[] {
  const fired = firedRules(needs, facts, rules);
  const kept: Recommendation[] = [];
  const refused: Recommendation[] = [...refusedDevices(needs, facts, rules)];
  for (const { rule, fired: what } of fired) {
    const here = !elsewhere.has(rule.id) || rule.id === 'buy-one';
    const count = what.bought ?? (here ? 1 : 0);
    const watts = count * (what.device?.watts ?? 0);
    if (watts > rules.socket.value) {
      const drawn = `${count > 1 ? `${count} of them draw ` : ''}${watts.toLocaleString('en')} W at one socket`;
      refused.push(refuse(what.device!, reason('catalogue', drawn, watts, rules.socket.value, 'W')));
      continue;
    }
    kept.push(recommendation(needs, rule, what));
  }
  const order = (given: Recommendation): number =>
    (given.meetsDeadline === false ? 2 : 0) + (given.meetsBudget === false ? 1 : 0);
  // Of what misses the deadline the nearest to it first; else as the rules stand.
  const late = ({ meetsDeadline, seconds }: Recommendation): number =>
    meetsDeadline === false ? (seconds?.high ?? 0) : 0;
  const ranked = kept.toSorted((a, b) => order(a) - order(b) || late(a) - late(b));
  return [...ranked.map((given, i) => ({ ...given, rank: i + 1 })), ...refused];
}

function firedRules(needs: Needs, facts: Facts, rules: Rules): { rule: Rule; fired: Fired }[] {
  const found: { rule: Rule; fired: Fired }[] = [];
  for (const rule of rules.rules) {
    const action = actions.get(rule.id);
    if (action === undefined || (elsewhere.has(rule.id) && hereSuffices({ needs, facts }))) continue;
    const limit = (name: string): number => {
      const threshold = Object.hasOwn(rule.thresholds, name) ? rule.thresholds[name] : undefined;
      if (threshold === undefined) throw new RangeError(`The rule ${rule.id} has no threshold ${name}.`);
      return threshold.value;
    };
    const fired = action({ needs, facts, limit, socket: rules.socket.value });
    if (fired === null || (fired.device === facts.cpu && facts.cpuFits === false)) continue;
    found.push({ rule, fired });
    if (final.has(rule.id) && (needs.deadline === undefined || facts.cpu.seconds.high <= needs.deadline)) break;
  }
  return found;
}

/**
 * What the forecast says of a deadline, in seconds: '' where it is kept. One rule everywhere: the upper end of the range is held against
 * it, so what is done in time in the middle of the range may still end after.
 */
export function lateness({ middle, high }: Range, deadline: number | undefined): string {
  if (deadline === undefined || high <= deadline) return '';
  return middle <= deadline ? 'may end after the deadline' : 'after the deadline';
}

/** Said where the middle, which is what people are shown, is within the deadline and the upper end is not. */
function upperEndReason(seconds: Range | undefined, deadline: number | undefined): Reason[] {
  if (seconds === undefined || deadline === undefined) return [];
  const { middle, high } = seconds;
  if (high <= deadline || middle > deadline) return [];
  const upTo = `It may take up to ${about([high, high])}`;
  const words = `${upTo}: the upper end of the forecast is held against the deadline of ${about([deadline, deadline])}`;
  return [reason('cost', words, high, deadline, 's')];
}

function recommendation(needs: Needs, rule: Rule, fired: Fired): Recommendation {
  const { device, reasons, changes = [], seconds, money } = fired;
  const meetsDeadline = seconds && needs.deadline !== undefined ? lateness(seconds, needs.deadline) === '' : undefined;
  const meetsBudget = needs.budget === undefined || money === undefined ? undefined : money <= needs.budget;
  return {
    rank: 0,
    advised: true,
    rule: rule.id,
    title: rule.title,
    device: device?.id ?? null,
    reasons: [...reasons, ...upperEndReason(seconds, needs.deadline), ...numbersReason(device), ...staleReason(device)],
    seconds,
    money,
    meetsDeadline,
    meetsBudget,
    changes,
  };
}

const staleReason = (device: DeviceFact | null): Reason[] =>
  device?.rent?.stale ? [reason('catalogue', 'Its price is older than 60 days or undated')] : [];

const numbersReason = (device: DeviceFact | null): Reason[] =>
  device?.otherNumbers ? [reason('catalogue', `It computes in ${device.otherNumbers}: it has nothing else`)] : [];

const refuse = (device: DeviceFact, why: Reason): Recommendation => ({
  rank: 0,
  advised: false,
  rule: '',
  title: device.name,
  device: device.id,
  reasons: [why],
  changes: [],
});

/** Devices that cannot be advised, whatever the rules: one reason each. */
function refusedDevices(needs: Needs, facts: Facts, rules: Rules): Recommendation[] {
  const spare = rules.rules.find(({ id }) => id === 'buy-one')?.thresholds.spare?.value ?? 0.8;
  const devices = [...(facts.gpu ? [facts.gpu] : []), ...facts.others];
  const cpu =
    facts.cpuFits === false
      ? [refuse(facts.cpu, reason('memory', `It does not fit: a run here can have ${gigabytes(facts.cpu.memory)}`))]
      : [];
  const others = devices.flatMap((device) => {
    const why = whyNot(device, needs, facts, spare);
    return why === null ? [] : [refuse(device, why)];
  });
  return [...cpu, ...others];
}

function whyNot(device: DeviceFact, needs: Needs, facts: Facts, spare: number): Reason | null {
  if (device.software) return reason('lab', 'A GPU in software: for testing only');
  if (device.use === 'inference') return reason('catalogue', 'For inference: it has no backward pass');
  if (device.use === 'research') return reason('catalogue', 'For research: it trains no such models');
  if (device.doubtful) return reason('catalogue', 'Its figures are from memory or in dispute');
  const needed = neededOn(facts, device);
  if (device !== facts.gpu && device.memory > 0 && needed > spare * device.memory) {
    const count = Math.ceil(needed / (spare * device.memory));
    return reason('memory', `It does not fit: ${count} of them would hold it`, needed, spare * device.memory, 'bytes');
  }
  if (needs.private && device.rent !== undefined && device.price === undefined) {
    return reason('rent', 'Data leaves this machine: you said that is not wanted');
  }
  return null;
}
