import { CronPattern } from 'croner';
import { validateDetailed } from 'node-cron';
import * as z from 'zod';
import { group, openGroup, setting, nullableSetting } from './setting.ts';
import * as a from './value-types.ts';

const SHAPE = 'a cron expression, or {kinds: [KIND, …] or all, cron}, or {kind, cron}';

const KINDS = 'a list of record kinds, or all';

const schedule = z
  .union(
    [
      z.string(),
      z.strictObject({
        kinds: z.union([z.literal('all'), z.array(a.kindNameText).min(1, KINDS)], KINDS),
        cron: z.string(),
      }),
      z.strictObject({ kind: a.kindNameText, cron: z.string() }),
    ],
    SHAPE,
  )
  .superRefine((value, context) => {
    const expected = cronFault(typeof value === 'string' ? value : value.cron);
    const path = typeof value === 'string' ? [] : ['cron'];
    if (expected !== null) context.addIssue({ code: 'custom', message: expected, path });
  });

export const schedules = openGroup(
  {
    timezone: setting(a.timezone.default('UTC'), 'Time zone of the schedules.'),
    all: setting(
      schedule.nullable().default(null),
      'The schedule of the kinds that no other one names; null for none. The default applies only where no schedule is set.',
    ),
  },
  schedule,
  {
    meaning: 'When to pull what: a record kind to a cron expression, or a name to {kinds, cron}.',
  },
  ({ timezone, ...set }) => {
    const isAnySet = Object.keys(set).length > 0;
    return { timezone, ...(isAnySet ? set : { all: { kinds: 'all', cron: '*/15 * * * *' } }) };
  },
);

export const freshness = group({
  requestsPerMinute: setting(
    a.count.nullable().default(10),
    'Requests per minute that serve may make between sweeps; null makes none.',
  ),
});

export const monitor = group({
  pingUrl: setting(
    nullableSetting(a.webUrl),
    'http or https URL to request after each complete pull, and with /fail after any other; null requests none.',
    { secret: 'value' },
  ),
});

const FIVE_FIELDS =
  'a cron expression of five fields: minute, hour, day of month, month, day of week; a schedule has no seconds: */15 * * * * is every 15 minutes';
const PLAIN_FIELDS = 'a cron expression of numbers, names, *, lists, ranges and steps';
const RISING_FIELDS =
  'a cron expression whose names have three letters (jan, sun), whose ranges rise, and whose steps fit into their field';
const FIELD_NAMES: Readonly<Record<string, string>> = {
  minute: 'minute exists (0 to 59)',
  hour: 'hour exists (0 to 23)',
  dayOfMonth: 'day of month exists (1 to 31)',
  month: 'month exists (1 to 12, or jan to dec)',
  dayOfWeek: 'day of week exists (0 to 7, or sun to sat)',
};

/** Describes the expected form for a text that is not a cron expression of five fields; null if it is one. */
function cronFault(text: string): string | null {
  const written = text.trim().split(/\s+/);
  if (written.length !== 5) return FIVE_FIELDS;
  const { fields, errors } = validateDetailed(text);
  if (fields === undefined) {
    const name = FIELD_NAMES[errors[0]?.field ?? ''];
    return name === undefined ? FIVE_FIELDS : `a cron expression whose ${name}`;
  }
  // node-cron's extensions L, W, # and ? are not part of crontab syntax.
  const isPlain = [...fields.dayOfMonth, ...fields.dayOfWeek].every((value) => typeof value === 'number');
  if (!isPlain || written.includes('?')) return PLAIN_FIELDS;
  try {
    new CronPattern(text.trim(), undefined, { mode: '5-part' }); // Computes the slots, and understands less than node-cron.
    return null;
  } catch (error) {
    if (error instanceof TypeError) return RISING_FIELDS;
    throw error;
  }
}
