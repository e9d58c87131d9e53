/** A time in which a zone keeps one distance from UTC; instants and lengths in milliseconds. */
export interface Stretch {
  readonly from: number;
  /** The first instant after it. */
  readonly to: number;
  readonly offset: number;
}

const MINUTE = 60_000;
const STEP = 12 * 60 * MINUTE; // No zone has changed twice within so short a time.

const formats = new Map<string, Intl.DateTimeFormat>();

/** The stretches of a zone that fill a time from one instant to another, in their order. */
export function stretchesOf(zone: string, from: number, to: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let begin = from;
  for (let at = from; at < to;) {
    const next = Math.min(at + STEP, to);
    const offset = offsetAt(zone, at);
    if (offsetAt(zone, next) === offset) {
      at = next;
      continue;
    }
    at = changeIn(zone, at, next);
    stretches.push({ from: begin, to: at, offset });
    begin = at;
  }
  if (begin < to) stretches.push({ from: begin, to, offset: offsetAt(zone, begin) });
  return stretches;
}

/** The first instant with another offset than `low` has; zones change on whole minutes. */
function changeIn(zone: string, low: number, high: number): number {
  const before = offsetAt(zone, low);
  let [from, to] = [Math.floor(low / MINUTE), Math.ceil(high / MINUTE)];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (offsetAt(zone, middle * MINUTE) === before) from = middle;
    else to = middle;
  }
  return to * MINUTE;
}

/** How far the zone's clocks are ahead of UTC. */
function offsetAt(zone: string, instant: number): number {
  const second = Math.floor(instant / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(second)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  formats.set(zone, made);
  return made;
}
