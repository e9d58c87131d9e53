import type { Mistake } from './mistake.ts';

const withFile =
  (text: string): Mistake['argv'] =>
  ({ file }) => ['status', '--config', file('settings.yaml', text)];

export const SETTINGS_FILE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a settings file that is not there',
    argv: ['status', '--config', '/nowhere/settings.yaml'],
    code: 2,
    says: ['/nowhere/settings.yaml', 'is not there', 'config/default.yaml documents every setting'],
  },
  {
    title: 'a settings file that is a folder',
    argv: ({ folder }) => ['status', '--config', folder],
    code: 2,
    says: ['is a folder'],
  },
  {
    title: 'a settings file that is no YAML',
    argv: withFile('source:\n  concurrency: [4\n'),
    code: 2,
    says: ['settings.yaml:3:1', 'not valid YAML'],
  },
  {
    title: 'a misspelt setting',
    argv: withFile('source:\n  concurency: 4\n'),
    code: 2,
    says: ['source.concurency', 'settings.yaml', 'did you mean source.concurrency?'],
  },
  {
    title: 'a list where settings belong',
    argv: withFile('- source\n'),
    code: 2,
    says: ['settings.yaml', 'expected a map of settings'],
  },
  {
    title: 'a text where a number belongs',
    argv: withFile('source:\n  timeoutSeconds: 30s\n'),
    code: 2,
    says: ['source.timeoutSeconds', '"30s"', 'a number of seconds above 0'],
  },
];

export const VARIABLE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a misspelt variable',
    argv: ['status'],
    env: { BMS__SOURCE__CONCURRENCE: '4' },
    code: 2,
    says: ['BMS__SOURCE__CONCURRENCE', 'unknown setting', 'did you mean BMS__SOURCE__CONCURRENCY?'],
  },
  {
    title: 'one underscore where two belong',
    argv: ['status'],
    env: { BMS__SOURCE_CONCURRENCY: '4' },
    code: 2,
    says: ['BMS__SOURCE_CONCURRENCY', 'did you mean BMS__SOURCE__CONCURRENCY?'],
  },
  {
    title: 'a list that is no JSON',
    argv: ['status'],
    env: { BMS__WEBHOOKS__RETRY_SECONDS: '[300,1800' },
    code: 2,
    says: ['BMS__WEBHOOKS__RETRY_SECONDS', '"[300,1800"', 'not valid JSON', 'a list of seconds'],
  },
  {
    title: 'a map that is no JSON',
    argv: ['status'],
    env: { BMS__DIFF__IGNORE_FIELDS: "{'clients':['phone']}" },
    code: 2,
    says: ['BMS__DIFF__IGNORE_FIELDS', 'not valid JSON', 'double quotes'],
  },
  {
    title: 'a word where on or off belongs',
    argv: ['status'],
    env: { BMS_WRITES: 'yes' },
    code: 2,
    says: ['BMS_WRITES', '"yes"', 'expected on or off'],
  },
  {
    title: 'a log level that there is not',
    argv: ['status'],
    env: { LOG_LEVEL: 'verbose' },
    code: 2,
    says: ['LOG_LEVEL', '"verbose"', 'one of trace, debug'],
  },
];

const scheduled = (cron: string): NonNullable<Mistake['env']> => ({
  BMS__SCHEDULES: JSON.stringify({ clients: cron }),
});

export const CRON_MISTAKES: readonly Mistake[] = [
  {
    title: 'a cron expression with seconds',
    argv: ['status'],
    env: scheduled('0 */15 * * * *'),
    code: 2,
    says: ['schedules.clients', '"0 */15 * * * *"', 'five fields', 'no seconds'],
  },
  {
    title: 'a minute that there is not',
    argv: ['status'],
    env: scheduled('61 * * * *'),
    code: 2,
    says: ['schedules.clients', '"61 * * * *"', 'whose minute exists', '0 to 59'],
  },
  {
    title: 'words where cron belongs',
    argv: ['status'],
    env: scheduled('every 15 minutes'),
    code: 2,
    says: ['schedules.clients', '"every 15 minutes"', 'five fields', '*/15 * * * *'],
  },
  {
    title: 'a schedule of a kind that there is not',
    argv: ['status'],
    env: { BMS__SCHEDULES: JSON.stringify({ client: '*/15 * * * *' }) },
    code: 2,
    says: ['schedules.client', 'did you mean clients?'],
  },
  {
    title: 'a sign that only other crons know',
    argv: ['status'],
    env: { BMS__SCHEDULES__ALL: '0 3 L * *' },
    code: 2,
    says: ['schedules.all', '"0 3 L * *"', 'numbers, names, *'],
  },
];

const zoned = (zone: string): NonNullable<Mistake['env']> => ({ BMS__SCHEDULES__TIMEZONE: zone });

export const ZONE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a city alone',
    argv: ['status'],
    env: zoned('Toronto'),
    code: 2,
    says: ['schedules.timezone', '"Toronto"', 'did you mean America/Toronto?'],
  },
  {
    title: 'a misspelt zone',
    argv: ['status'],
    env: zoned('America/Tornto'),
    code: 2,
    says: ['schedules.timezone', '"America/Tornto"', 'did you mean America/Toronto?'],
  },
  {
    title: 'a short name of a time',
    argv: ['status'],
    env: zoned('EDT'),
    code: 2,
    says: ['schedules.timezone', '"EDT"', 'as in America/Toronto'],
  },
  {
    title: 'a distance from UTC in words',
    argv: ['status'],
    env: zoned('UTC-5'),
    code: 2,
    says: ['schedules.timezone', '"UTC-5"', 'as in America/Toronto'],
  },
];
