import {
  compactJson,
  isArray,
  isNumber,
  isObject,
  parseObject,
  type Json,
  type JsonObject,
} from '../../lib/json/json.ts';
import { LOCALES, speechIn, type Language, type Text } from '../../lib/text/speech.ts';
import { plainLine } from '../../lib/text/text.ts';
import { objectIn, recordName } from '../../store/records/record-name.ts';
import type { RecordedChange } from '../read-changes.ts';

/** News with what only the mirror knows: read when the news is sent, so that stored news holds no content of a record. */
export interface NamedNews {
  /** As stored. */
  readonly body: string;
  /** The names of the records that it is about. */
  readonly names: readonly string[];
  /** The changes that an alert is about. */
  readonly changes: readonly RecordedChange[];
}

/** How people read: in which language and time zone, and where their dashboard is. */
export interface ReaderRules {
  readonly language: Language;
  readonly timezone: string;
  /** The setting `server.publicUrl`: news leads to a page. Null: it names a command. */
  readonly publicUrl: string | null;
}

/** News as a person reads it. */
export interface NewsText {
  readonly headline: string;
  /** What there is to know besides; the last line says where to look. */
  readonly lines: readonly string[];
}

/** The type of a test event. */
export const TEST_TYPE = 'webhook.test';

/** Puts news into words. */
export function newsText({ body, names, changes }: NamedNews, reader: ReaderRules): NewsText {
  const { type, data } = parseObject(body);
  const about = { type: textOf(type), data: isObject(data) ? data : {}, names, changes };
  const words = wordsOf(about, reader);
  const { headline, lines = [], page, command } = words;
  const way = reader.publicUrl === null ? command : `${reader.publicUrl}${page}`;
  return { headline, lines: [...lines, way].map(plainLine) };
}

function wordsOf(about: About, reader: ReaderRules): Words {
  if (about.type === 'alert.matched') return alertWords(about, reader);
  return about.type === 'digest.daily' ? digestWords(about, reader) : plainWords(about, reader);
}

interface About {
  readonly type: string;
  readonly data: JsonObject;
  readonly names: readonly string[];
  readonly changes: readonly RecordedChange[];
}

interface Words {
  readonly headline: string;
  readonly lines?: readonly string[];
  /** The page that shows it. */
  readonly page: string;
  /** What to do on the command line. */
  readonly command: string;
}

interface Wording {
  readonly text: Text;
  readonly page: string;
  readonly command: string;
}

/** News whose facts are the arguments of its text, of its page and of its command. */
const WORDINGS: Readonly<Record<string, Wording>> = {
  'kind.held': {
    text: '{records, plural, one {One record of {kind} has} other {# records of {kind} have}} disappeared at once: nothing is deleted until a person decides.',
    page: '/deletions',
    command: 'bms-sync deletions',
  },
  'entry.parked': {
    text: 'Entry {entryId} ({operation} of {kind}) is parked: {verdict}. A person must decide.',
    page: '/outbox/{entryId}',
    command: 'bms-sync outbox show {entryId}',
  },
  'entry.rejected': {
    text: 'Entry {entryId} ({operation} of {kind}) is rejected: {verdict}. Nothing more is sent for it.',
    page: '/outbox/{entryId}',
    command: 'bms-sync outbox show {entryId}',
  },
  'token.refused': {
    text: 'The service has refused the token since {since}: nothing can be read.',
    page: '/',
    command: 'bms-sync doctor',
  },
  'kind.blocked': {
    text: 'The service refuses what is written to {kind} ({reason}){entryId, select, null {} other {; it refused entry {entryId}}}.',
    page: '/',
    command: 'bms-sync outbox',
  },
  'kind.stale': {
    text: '{since, select, null {The list of {kind} was never read to its end.} other {The list of {kind} was last read to its end on {since}.}}',
    page: '/kinds/{kind}',
    command: 'bms-sync status',
  },
  'field.volatile': {
    text: 'With every sweep most records show another value in {fields}, and each change is an event. To ignore it, add to the settings: {setting}',
    page: '/',
    command: 'bms-sync status',
  },
  'outbox.frozen': {
    text: 'Nothing is sent until a person says so: {reason}.',
    page: '/',
    command: 'bms-sync outbox resume',
  },
  'mirror.damaged': { text: 'A person is needed: {reason}.', page: '/', command: 'bms-sync doctor' },
  [TEST_TYPE]: {
    text: 'This is a test of bms-sync: the endpoint works.',
    page: '/webhooks',
    command: 'bms-sync webhooks',
  },
};

function plainWords({ type, data, names }: About, reader: ReaderRules): Words {
  const wording = WORDINGS[type];
  if (wording === undefined) return { headline: `bms-sync: ${type}.`, page: '/', command: 'bms-sync status' };
  const values = valuesOf(data, reader);
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
  const { say } = speechIn(reader.language);
  return {
    headline: say(wording.text, values),
    lines: names.length === 0 ? [] : [say('About: {names}.', { names: names.join(', ') })],
    page: filled(wording.page),
    command: filled(wording.command),
  };
}

function valuesOf(
  data: JsonObject,
  { language, timezone }: ReaderRules,
): Readonly<Record<string, string | number>> {
  const style = { timeZone: timezone, dateStyle: 'medium', timeStyle: 'short' } as const;
  const format = new Intl.DateTimeFormat(LOCALES[language], style);
  const values = Object.entries(data).map(([name, value]) => {
    if (isNumber(value)) return [name, Number(value)];
    return [
      name,
      name === 'since' && typeof value === 'string' ? format.format(new Date(value)) : textOf(value),
    ];
  });
  return Object.fromEntries(values) as Record<string, string | number>;
}

const textOf = (value: Json | undefined): string =>
  plainLine(typeof value === 'string' ? value : compactJson(value ?? null));

const ALERT: Text =
  '{is, select, above {{field} of {kind} is above {limit}} below {{field} of {kind} is below {limit}} other {{field} of {kind} has changed}}: {changes, plural, one {one record} other {# records}}.';

function alertWords({ data, changes }: About, reader: ReaderRules): Words {
  const { say, decimal } = speechIn(reader.language);
  const kind = textOf(data['kind']);
  const field = textOf(data['field']);
  const amount = (value: Json | undefined): string => {
    const text = value === undefined ? '–' : textOf(value);
    return /^-?(?:0|[1-9]\d*)\.\d+$/.test(text) ? decimal(text) : text; // A code has no decimals.
  };
  const lines = changes.map(({ recordId, before, after }) => {
    const name = recordName(after ?? before);
    const [old = '', present = ''] = [before, after].map((raw) => amount(objectIn(raw)[field]));
    return `${kind} ${recordId}${name === '' ? '' : ` (${name})`}: ${old} → ${present}`;
  });
  const more = Number(data['changes']) - changes.length;
  const page =
    more === 0 && changes.length === 1
      ? `/records/${kind}/${changes[0]?.recordId ?? ''}`
      : `/changes?kind=${kind}`;
  return {
    headline: say(ALERT, { ...valuesOf(data, reader), limit: amount(data['limit']) }),
    lines:
      more > 0 ? [...lines, say('And {more, plural, one {one other} other {# others}}.', { more })] : lines,
    page,
    command: `bms-sync changes --kind ${kind}`,
  };
}

function digestWords({ data }: About, reader: ReaderRules): Words {
  const { say } = speechIn(reader.language);
  const needs = objectsIn(data['needs']).map(({ type, data: facts }) => {
    const about = { type: textOf(type), data: isObject(facts) ? facts : {}, names: [], changes: [] };
    return `– ${wordsOf(about, reader).headline}`;
  });
  const changes = objectsIn(data['changes']).map((counts) =>
    say(
      '{kind}: {created, number} new, {updated, number} changed, {deleted, number} deleted',
      valuesOf(counts, reader),
    ),
  );
  return {
    headline: say(
      '{needs, plural, =0 {Nothing needs you} one {One matter needs you} other {# matters need you}}',
      {
        needs: needs.length,
      },
    ),
    lines: [
      ...needs,
      say(changes.length === 0 ? 'No record has changed.' : 'Changed since the last digest:'),
      ...changes,
    ],
    page: '/',
    command: 'bms-sync status',
  };
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  isArray(value) ? value.filter(isObject) : [];
