// A row of units below the header: `s`, `m/s`, `[kg]`, `%`. It is told from a row of data whose numbers are missing, in which
// words such as "low" or "BDL" stand: those are no units, and beside them are values that come again.

import { isMissingWord, isNumber, isNumberColumn } from '../schema/spelling.ts';
import type { NumberStyle } from '../schema/spelling.ts';

const prefixed =
  /^(?:da|[yzafpnuµμmcdhkMGTPEZY])?(?:m|g|s|A|K|N|J|W|C|V|F|T|H|L|l|t|B|b|S|Ω|mol|cd|Hz|Pa|ohm|Wb|lm|lx|Bq|Gy|Sv|kat|bit|eV|bar|cal|Wh|Ah|VA|ha|Eq|osm|u)$/i;
const other =
  /^(?:%|‰|°[A-Za-z]?|[$€£¥]|in|inch(?:es)?|ft|feet|foot|yd|mi|miles?|nmi|kn|knots?|kts?|mph|kph|kmh|mps|fps|rpm|bpm|dba?|dbm|psi|atm|torr|mmhg|inhg|lbs?|oz|gal|min|hr?s?|secs?|yrs?|wks?|d|mo|deg[cfk]?|degrees?|rad|sr|px|pt|ppm|ppb|ppt|pct|percent|counts?|pcs|iu|ph|ntu|psu|fnu|var|cc|usd|eur|gbp|chf|jpy|cny|inr|aud|cad|sek|nok|dkk|pln|(?:second|minute|hour|day|week|month|year|gram|lit(?:er|re)|volt|watt|amp(?:ere)?|pixel|byte|newton|pascal|joule)s?|(?:(?:kilo|centi|milli|micro)?met(?:er|re)|kilogram|milligram)s?|celsius|fahrenheit|kelvin|unit|units)$/i;
const bracketed = /^(?:\[.{0,15}\]|\(.{0,15}\))$/;
/** A short word that may be a unit beside others that are. */
const short = /^[A-Za-zµμΩ]{1,4}$/;
/** Short words that are values. */
const values = /^(?:low|high|mid|max|bdl|lod|loq|nd|yes|no|true|fals|none|x|xx|xxx|tr|bad|good|ok|err|off|on)$/i;
/** What may stand in place of a unit below the name of a column of words. */
const wordy = /^(?:-|text|string|name|label|class|category|date|datetime|time|utc|id|code)$/i;

/** Whether a text is a unit, or several with strokes, dots and powers: `kg/m3`, `W m-2`. */
export function isUnit(text: string): boolean {
  if (text.length > 24) return false;
  if (bracketed.test(text)) return true;
  const parts = text.split(/[/*·⋅×\s]+|\bper\b/).filter((part) => part !== '');
  return (
    parts.length > 0 &&
    parts.every((part) => {
      const bare = part.replace(/(?:\^?[-−]?\d+|[⁻¹²³]+)$/, '');
      return prefixed.test(bare) || other.test(bare) || (bare === '' && parts.length > 1);
    })
  );
}

/** Whether a column has digits in its second row and none in the first: a quick look before a thorough one. */
export function mayHoldUnits(values: readonly (readonly string[])[]): boolean {
  return values.some(([first = '', second = '']) => !/\d/.test(first) && /\d/.test(second));
}

/**
 * Whether the first row of values holds units: they stand where all rows below have numbers, and no other column has a value
 * there. One column of numbers is not enough, unless the unit stands in brackets. `values`: column by column.
 */
export function isUnitsRow(columns: readonly (readonly string[])[], style: NumberStyle): boolean {
  const named: string[] = [];
  for (const column of columns) {
    const first = (column[0] ?? '').trim();
    if (first === '' || first === '-') continue;
    const below = column.slice(1);
    const numeric = below.length > 2 && isNumberColumn(below, style);
    if (!numeric) {
      if ((!isUnit(first) && !wordy.test(first)) || below.some((value) => value.trim() === first)) return false;
      continue;
    }
    if (isMissingWord(first) || isNumber(first, style) || values.test(first)) return false;
    if (!isUnit(first) && !short.test(first)) return false;
    named.push(first);
  }
  const certain = named.filter(isUnit).length;
  if (named.length === 1) return bracketed.test(named[0] ?? '');
  return named.length > 1 && certain * 2 >= named.length;
}
