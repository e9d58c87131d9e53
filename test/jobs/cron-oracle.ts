/** What a schedule's due times are, found out the slow way: every minute is looked at, as the zone's clocks show it. */

const MINUTE = 60_000;

/** What the clocks of a zone show, minute by minute: local times are written as if they were UTC. */
export interface Shown {
  readonly instant: number;
  readonly local: number;
}

export function minutesOf(zone: string, from: number, to: number): readonly Shown[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const shown: Shown[] = [];
  for (let instant = from; instant < to; instant += MINUTE)
    shown.push({ instant, local: Date.parse(`${format.format(instant).replace(' ', 'T')}Z`) });
  return shown;
}

/** Whether a crontab's line is meant at a local time; knows numbers, `*`, lists, ranges and steps. */
export function isMeant(expression: string, local: number): boolean {
  const fields = expression.split(' ');
  const field = (index: number): string => fields[index] ?? '';
  const time = new Date(local);
  const isWeekday = [time.getUTCDay(), time.getUTCDay() === 0 ? 7 : -1].some((day) =>
    holds(field(4), day, 0),
  );
  const days = [holds(field(2), time.getUTCDate(), 1), isWeekday];
  const isOneStarred = [2, 4].some((index) => field(index).startsWith('*'));
  return (
    holds(field(0), time.getUTCMinutes(), 0) &&
    holds(field(1), time.getUTCHours(), 0) &&
    holds(field(3), time.getUTCMonth() + 1, 1) &&
    (isOneStarred ? !days.includes(false) : days.includes(true))
  );
}

function holds(field: string, value: number, least: number): boolean {
  return field.split(',').some((part) => {
    const [range = '', step = '1'] = part.split('/');
    if (range === '*') return value >= least && (value - least) % Number(step) === 0;
    const [from, to = from] = range.split('-').map(Number);
    return value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0;
  });
}

/** Every instant at which the expression comes due, by the rules of docs/operations.md. */
export function dueTimes(expression: string, minutes: readonly Shown[]): readonly number[] {
  const isRhythm = expression.split(' ')[1] === '*';
  const done = new Set<number>();
  return minutes
    .filter(({ local }, index) => {
      const before = minutes[index - 1]?.local ?? local - MINUTE;
      if (isRhythm) return isMeant(expression, local);
      const due: number[] = [];
      for (let time = Math.min(before + MINUTE, local); time <= local; time += MINUTE)
        if (isMeant(expression, time) && !done.has(time)) due.push(time);
      for (const time of due) done.add(time);
      return due.length > 0;
    })
    .map(({ instant }) => instant);
}
