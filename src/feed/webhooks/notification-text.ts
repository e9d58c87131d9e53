import { fieldLabel, kindLabel } from '../../catalog/descriptions.ts';
import { compactJson, type Json } from '../../lib/json/json.ts';
import {
  dateFormat,
  translatorFor,
  type Language,
  type Translator,
  type MessageKey,
} from '../../lib/text/translator.ts';
import { sanitizeLine } from '../../lib/text/text.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { parseObjectText, recordName } from '../../store/records/record-name.ts';
import { hasWords, needWords, plainWhy, type NeedOf } from '../../words/needs.ts';
import type { RecordedChange } from '../read-changes.ts';

/** News with what only the mirror knows: read when the news is sent, so that stored news holds no content of a record. */
export interface NamedNotification {
  readonly type: string;
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
export interface NotificationText {
  readonly headline: string;
  /** What there is to know besides; the last line says where to look. */
  readonly lines: readonly string[];
}

export const TEST_TYPE = 'webhook.test';

interface NotificationParts extends NotificationText {
  readonly page: string;
  /** What to do on the command line. */
  readonly command: string;
}

const MOST_NAMED = 10;

interface Content {
  readonly type: string;
  readonly data: object;
}

const contentOf = ({ body }: NamedNotification): Content => JSON.parse(body) as Content;

/** Puts notifications with one cause into words: those of the first, and what is particular of the others. */
export function causeText(all: readonly NamedNotification[], reader: ReaderRules): NotificationText {
  const [first, ...others] = mergeKinds(all);
  if (first === undefined) return { headline: '', lines: [] };
  const { headline, lines, page, command } =
    others.length > 0 && /^entry\./.test(first.type)
      ? entriesParts([first, ...others], reader)
      : notificationParts(first, reader);
  const { t } = translatorFor(reader.language);
  const shown = others.slice(0, MOST_NAMED);
  const also = /^entry\./.test(first.type)
    ? []
    : shown.map((other) => t('Also: {titles}.', { titles: notificationParts(other, reader).headline }));
  const more = others.length - shown.length;
  const rest = more > 0 ? [t('And {more, plural, one {one other} other {# others}}.', { more })] : [];
  const link = reader.publicUrl === null ? command : `${reader.publicUrl}${page}`;
  return { headline: sanitizeLine(headline), lines: [...lines, ...also, ...rest, link].map(sanitizeLine) };
}

/** Types whose words can name several kinds. */
const OF_KINDS = ['kind.stale', 'kind.blocked'];

/** One notification for all kinds that one cause has reached. */
function mergeKinds(all: readonly NamedNotification[]): readonly NamedNotification[] {
  const [first] = all;
  if (first === undefined || !OF_KINDS.includes(first.type)) return all;
  const { type, data } = contentOf(first);
  const kinds = all.map((one) => (contentOf(one).data as { readonly kind: string }).kind);
  const body = JSON.stringify({ type, data: { ...data, kinds } });
  return [{ ...first, body, names: all.flatMap((one) => one.names) }];
}

const ENDED: MessageKey =
  '{state, select, parked {{n, plural, one {# entry is parked} other {# entries are parked}}} other {{n, plural, one {# entry is rejected} other {# entries are rejected}}}}';

/** Entries with one verdict: what it means once, and a line for each. */
function entriesParts(
  all: readonly [NamedNotification, ...NamedNotification[]],
  reader: ReaderRules,
): NotificationParts {
  const state = all[0].type.replace('entry.', '');
  const { t } = translatorFor(reader.language);
  const [why = ''] = notificationParts({ ...all[0], names: [] }, reader).lines;
  const lines = all.slice(0, MOST_NAMED + 1).map((one) => {
    const name = one.names.length === 0 ? '' : ` (${one.names.join(', ')})`;
    return `– ${notificationParts(one, reader).headline}${name}`;
  });
  const headline = t(ENDED, { n: all.length, state });
  return { headline, lines: [why, ...lines], page: `/outbox?state=${state}`, command: 'bms-sync outbox' };
}

/** Types whose letters say what to do: no button of their page does it. */
const TO_DO = ['mirror.damaged', 'outbox.frozen', 'token.refused', 'kind.blocked'];

function notificationParts(notification: NamedNotification, reader: ReaderRules): NotificationParts {
  const { type, data } = contentOf(notification);
  const dates = dateFormat(reader.language, reader.timezone);
  const date = (since: string): string => dates.format(dateOf(since));
  const translator = { ...translatorFor(reader.language), date };
  if (type === 'alert.matched') return alertParts(data as AlertFacts, notification.changes, translator);
  if (type === 'digest.daily') return digestParts(data as DigestFacts, translator);
  if (!hasWords(type))
    return { headline: `bms-sync: ${type}`, lines: [], page: '/', command: 'bms-sync status' };
  const { title, since, effect, page, command, ...words } = needWords(
    { type, facts: data } as NeedOf,
    translator,
    notification.names,
  );
  const lines = [
    plainWhy(words),
    since === null ? '' : translator.t('Since {time}.', { time: date(since) }),
    TO_DO.includes(type) ? effect : '',
  ];
  return { headline: title, lines: lines.filter((line) => line !== ''), page, command };
}

/** @param since A stored instant; a notification has an ISO one. */
const dateOf = (since: string): Date => (since.endsWith('Z') ? new Date(since) : parseInstant(since));

interface AlertFacts {
  readonly kind: string;
  readonly field: string;
  readonly is: string;
  readonly limit: string | null;
  /** How many match. */
  readonly changes: number;
}

const ALERT: MessageKey =
  '{is, select, above {{field} of {kind} is above {limit}} below {{field} of {kind} is below {limit}} other {{field} of {kind} has changed}}: {changes, plural, one {one record} other {# records}}';

function alertParts(
  facts: AlertFacts,
  changes: readonly RecordedChange[],
  translator: Translator,
): NotificationParts {
  const { kind, field, is, limit, changes: all } = facts;
  const amount = (value: Json | undefined): string => {
    const text = typeof value === 'string' ? value : value === undefined ? '–' : compactJson(value);
    return /^-?(?:0|[1-9]\d*)\.\d+$/.test(text) ? translator.decimal(text) : text; // A code has no decimals.
  };
  const lines = changes.map((change) => {
    const name = recordName(change.after ?? change.before);
    const [old = '', present = ''] = [change.before, change.after].map((raw) =>
      amount(parseObjectText(raw)[field]),
    );
    const record = `${kindLabel(translator, kind, 'one')} ${change.recordId}${name === '' ? '' : ` (${name})`}`;
    return translator.t('{record}: {old} → {present}', { record, old, present });
  });
  const more = all - changes.length;
  const others =
    more > 0 ? [translator.t('And {more, plural, one {one other} other {# others}}.', { more })] : [];
  const only = more === 0 && changes.length === 1 ? changes[0] : undefined;
  return {
    headline: translator.t(ALERT, {
      kind: kindLabel(translator, kind),
      field: fieldLabel(translator, kind, field),
      is,
      limit: amount(limit),
      changes: all,
    }),
    lines: [...lines, ...others],
    page: only === undefined ? `/changes?kind=${kind}` : `/records/${kind}/${only.recordId}`,
    command: `bms-sync changes --kind ${kind}`,
  };
}

interface DigestFacts {
  readonly needs: readonly { readonly type: string; readonly data: object }[];
  readonly changes: readonly Readonly<Record<string, string | number>>[];
}

function digestParts(facts: DigestFacts, translator: Translator): NotificationParts {
  const { needs, changes } = facts;
  const { t } = translator;
  const titles = mergeNeeds(needs).map((need) => {
    const { state, n } = need.data as { readonly state?: string; readonly n?: number };
    if (need.type === 'entries' && state !== undefined && n !== undefined) return t(ENDED, { n, state });
    return hasWords(need.type)
      ? needWords({ type: need.type, facts: need.data } as NeedOf, translator).title
      : need.type;
  });
  const counts = changes.map((each) =>
    t('{kind}: {created, number} new, {updated, number} changed, {deleted, number} deleted', {
      ...each,
      kind: kindLabel(translator, String(each['kind'])),
    }),
  );
  return {
    headline: t(
      '{needs, plural, =0 {Nothing needs your attention} one {One item needs your attention} other {# items need your attention}}',
      { needs: titles.length },
    ),
    lines: [
      ...titles.map((title) => `– ${title}`),
      t(changes.length === 0 ? 'No record has changed.' : 'Changed since the last digest:'),
      ...counts,
    ],
    page: '/',
    command: 'bms-sync status',
  };
}

/** One need per cause: parked entries by their number, and refused kinds together. */
function mergeNeeds(needs: readonly Content[]): readonly Content[] {
  const causeOf = ({ type, data }: Content): string => {
    const { reason } = data as { readonly reason?: string };
    if (type === 'entry.parked' || type === 'entries.parked') return 'entries';
    return type === 'kind.blocked' ? `${type} ${reason ?? ''}` : JSON.stringify([type, data]);
  };
  return [...Map.groupBy(needs, causeOf).values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined || (alike.length === 1 && first.type !== 'entries.parked')) return alike;
    if (first.type === 'kind.blocked') {
      const kinds = alike.map(({ data }) => (data as { readonly kind: string }).kind);
      return [{ ...first, data: { ...first.data, kinds } }];
    }
    const n = alike.reduce(
      (sum, { data }) => sum + ((data as { readonly entries?: number }).entries ?? 1),
      0,
    );
    return [{ type: 'entries', data: { state: 'parked', n } }];
  });
}
