// What is said of an export: how it was checked, and numbers as small as its differences.

import { exportWords, type KeptExport } from '../../../../../engine/protocol/exports.ts';

export interface Check {
  readonly text: string;
  readonly kind: 'ok' | 'err';
}

/** Exports of earlier versions, but models, were not read back. */
export function checkOf({ format, certificate, proven = [] }: KeptExport): Check {
  if (certificate?.passed === false) return { text: 'differs', kind: 'err' };
  if (certificate === null && proven.length === 0) return { text: 'not read back', kind: 'err' };
  return { text: exportWords[format].proof, kind: 'ok' };
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `3 × 10⁻⁷`; 0 as it is. */
export function tiny(value: number): string {
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return 'infinite';
  const [digits, exponent] = value.toExponential(0).split('e');
  const power = powerOfTen(Number(exponent));
  return digits === '1' ? power : `${digits} × ${power}`;
}

export function powerOfTen(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[Number(digit)]).join('');
  return `10${exponent < 0 ? '⁻' : ''}${digits}`;
}
