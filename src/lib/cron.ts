import { validateDetailed } from 'node-cron';

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

/** Describes the expected form for a text that is not a cron expression of five fields; null if it is one. */
export function cronFault(text: string): string | null {
  const written = text.trim().split(/\s+/);
  if (written.length !== 5) return FIVE_FIELDS;
  const { fields, errors } = validateDetailed(text);
  if (fields === undefined) return expectedIn(errors[0]?.field);
  // node-cron's extensions L, W, # and ? are not part of crontab syntax.
  const isPlain = [...fields.dayOfMonth, ...fields.dayOfWeek].every((value) => typeof value === 'number');
  return isPlain && !written.includes('?') ? null : PLAIN_FIELDS;
}

function expectedIn(field = ''): string {
  const name = FIELD_NAMES[field];
  return name === undefined ? FIVE_FIELDS : `a cron expression whose ${name} exists`;
}
