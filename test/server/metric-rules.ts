const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
const PARTS = ['_count', '_sum', '_bucket'];
const SHORT_UNITS = /_(?:s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)(?:_|$)/;
const OTHER_UNITS =
  /_(?:milliseconds|microseconds|nanoseconds|minutes|hours|days|kilobytes|megabytes|gigabytes|bits|percent|celsius)(?:_|$)/;
const SAMPLE = /^([a-zA-Z_]\w*)(?:\{(.*)\})? (?:[-+\d.e]+|NaN|[-+]Inf)$/i;

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

const found = (text: string, comment: 'HELP' | 'TYPE'): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(new RegExp(`^# ${comment} (\\w+) (.*)$`, 'gm'))].map(([, name = '', rest = '']) => [
      name,
      rest,
    ]),
  );

const isSpread = (type: string): boolean => type === 'histogram' || type === 'summary';

const METRIC_RULES: readonly (readonly [string, (metric: Metric) => boolean])[] = [
  ['has no help', ({ help }) => help.trim() === ''],
  ['has no type', ({ type }) => !TYPES.includes(type)],
  [
    'a counter ends in _total, and nothing else does',
    ({ name, type }) => name.endsWith('_total') !== (type === 'counter'),
  ],
  [
    'ends like a part of a histogram',
    ({ name, type }) => !isSpread(type) && PARTS.some((part) => name.endsWith(part)),
  ],
  ['has its type in its name', ({ name }) => TYPES.some((one) => name.split('_').includes(one))],
  [
    'has a unit that is no base unit, or a short one',
    ({ name }) => SHORT_UNITS.test(name) || OTHER_UNITS.test(name),
  ],
  ['is not spelled in small letters and single underscores', ({ name }) => /[A-Z:]|^_|_$|__/.test(name)],
];

const remarksOnMetric = (metric: Metric): readonly string[] =>
  METRIC_RULES.filter(([, breaks]) => breaks(metric)).map(([remark]) => `${metric.name} ${remark}`);

const RESERVED: Readonly<Record<string, string>> = { le: 'histogram', quantile: 'summary' };

function remarksOnSample(line: string, types: ReadonlyMap<string, string>): readonly string[] {
  const [, name = '', labels = ''] = SAMPLE.exec(line) ?? [];
  const base = types.has(name) ? name : name.replace(/_(?:count|sum|bucket)$/, '');
  const type = types.get(base);
  const names = [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"(?:, ?|$)/g)].map(([, label = '']) => label);
  return [
    ...(type === undefined ? ['is not declared, or no sample at all'] : []),
    ...names.filter((label) => /[A-Z]|^_/.test(label)).map((label) => `has the label ${label}`),
    ...names.filter((label) => (RESERVED[label] ?? type) !== type).map((label) => `has the label ${label}`),
    ...(new Set(names).size === names.length ? [] : ['has a label twice']),
  ];
}

/** What `promtool check metrics` would remark of a text of metrics, and what Prometheus would not read. */
export function remarksOn(text: string): readonly string[] {
  const [helps, types] = [found(text, 'HELP'), found(text, 'TYPE')];
  const names = new Set([...helps.keys(), ...types.keys()]);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return [
    ...[...names].flatMap((name) =>
      remarksOnMetric({ name, type: types.get(name) ?? '', help: helps.get(name) ?? '' }),
    ),
    ...samples.flatMap((line) => remarksOnSample(line, types).map((one) => `${line} ${one}`)),
  ];
}
