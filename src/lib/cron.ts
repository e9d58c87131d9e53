import { validateDetailed } from 'node-cron';

/** A cron expression of five fields, as sets of what it names. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Day of month and day of week are both restricted: a day of either is meant, as in a crontab. */
  readonly isEitherDay: boolean;
  /** Every hour is meant: the expression is a rhythm, and goes on through a change of the clocks. */
  readonly isRhythm: boolean;
}

export type ParsedCron =
  | { readonly is: 'cron'; readonly cron: Cron }
  /** What was expected instead. */
  | { readonly is: 'fault'; readonly expected: string };

const FIVE_FIELDS =
  'a cron expression of five fields: minute, hour, day of month, month, day of week; a schedule has no seconds';
const PLAIN_FIELDS = 'a cron expression of numbers, names, *, lists, ranges and steps';
const FIELD_NAMES: Readonly<Record<string, string>> = {
  minute: 'minute',
  hour: 'hour',
  dayOfMonth: 'day of month',
  month: 'month',
  dayOfWeek: 'day of week',
};

/** Reads a cron expression: node-cron reads its fields, and a crontab's rules say how the two fields for days go together. */
export function parseCron(text: string): ParsedCron {
  const written = text.trim().split(/\s+/);
  if (written.length !== 5) return { is: 'fault', expected: FIVE_FIELDS };
  const { fields, errors } = validateDetailed(text);
  if (fields === undefined) return { is: 'fault', expected: expectedIn(errors[0]?.field) };
  const { minute, hour, dayOfMonth, month, dayOfWeek } = fields;
  const [days, weekdays] = [dayOfMonth.filter(isNumber), dayOfWeek.filter(isNumber)];
  // node-cron's own L, W, # and ? are in no crontab.
  const isPlain = days.length === dayOfMonth.length && weekdays.length === dayOfWeek.length;
  if (!isPlain || written.includes('?')) return { is: 'fault', expected: PLAIN_FIELDS };
  const cron = {
    ...{ minutes: new Set(minute), hours: new Set(hour), months: new Set(month) },
    ...{ days: new Set(days), weekdays: new Set(weekdays) },
    isEitherDay: [written[2], written[4]].every((field) => field?.startsWith('*') === false),
    isRhythm: new Set(hour).size === 24,
  };
  return { is: 'cron', cron };
}

function expectedIn(field = ''): string {
  const name = FIELD_NAMES[field];
  return name === undefined ? FIVE_FIELDS : `a cron expression whose ${name} exists`;
}

function isNumber(value: number | string): value is number {
  return typeof value === 'number';
}
