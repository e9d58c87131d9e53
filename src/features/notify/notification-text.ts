import { fieldLabel, kindLabel } from '../../catalog/descriptions.ts';
import { compactJson, type Json } from '../../lib/json/json.ts';
import { dateFormat, translatorFor, type Translator, type MessageKey } from '../../lib/text/translator.ts';
import { sanitizeLine } from '../../lib/text/text.ts';
import { parseInstant } from '../../lib/time/clock.ts';
import { parseObjectText, recordName } from '../../store/records/record-name.ts';
import { hasWords, needWords, plainWhy, type NeedOf } from '../../words/needs.ts';
import type { RecordedChange } from '../../events/read-changes.ts';
import type { ReaderRules } from '../../events/webhooks/messages.ts';

/** A notification with content of records. This is read when it is sent, so that the stored notification contains none. */
export interface NamedNotification {
  readonly type: string;
  /** As stored. */
  readonly body: string;
  /** The names of the records that it is about. */
  readonly names: readonly string[];
  /** The changes that an alert is about. */
  readonly changes: readonly RecordedChange[];
}

/** A notification as a person reads it. */
export interface NotificationText {
  readonly headline: string;
  /** Details; the last line is the page or the command. */
  readonly lines: readonly string[];
}

interface NotificationParts extends NotificationText {
  readonly page: string;
  /** The command that shows or solves it. */
  readonly command: string;
}

const MOST_NAMED = 10;

interface Content {
  readonly type: string;
  readonly data: { readonly kind?: string; readonly reason?: string; readonly entries?: number };
}

const contentOf = (notification: NamedNotification): Content => JSON.parse(notification.body) as Content;

/** Puts notifications with one cause into words: the common part once, and a line for each one that it does not name. */
export function causeText(all: readonly NamedNotification[], reader: ReaderRules): NotificationText {
  const [first] = all;
  const merged = mergeAlike(all.map(contentOf));
  const [content] = merged;
  if (first === undefined || content === undefined) return { headline: '', lines: [] };
  const isCount = content.type === ENTRIES;
  const isMerged = merged.length === 1;
  const names = isMerged ? all.flatMap((notification) => notification.names) : first.names;
  const common = isCount ? { ...first, names: [] } : { ...first, body: JSON.stringify(content), names };
  const { lines, ...parts } = notificationParts(common, reader);
  const { headline, page, command } = isCount ? countParts(content, translatorFor(reader.language)) : parts;
  const unnamed = isMerged ? [] : all.slice(1);
  const others = isCount ? all : unnamed;
  const listed = others.slice(0, MOST_NAMED).map((notification) => {
    const name = notification.names.length === 0 ? '' : ` (${notification.names.join(', ')})`;
    return `– ${notificationParts(notification, reader).headline}${name}`;
  });
  const more = others.length - listed.length;
  const rest = more > 0 ? [translatorFor(reader.language).t(MORE, { more })] : [];
  const link = reader.publicUrl === null ? command : `${reader.publicUrl}${page}`;
  return { headline: sanitizeLine(headline), lines: [...lines, ...listed, ...rest, link].map(sanitizeLine) };
}

const MORE: MessageKey = 'And {more, plural, one {one other} other {# others}}.';

function mergeKey({ type, data }: Content): string {
  if (/^entr/.test(type)) return ENTRIES;
  if (/^kind\.(?:stale|blocked)$/.test(type)) return `${type} ${data.reason ?? ''}`;
  return JSON.stringify([type, data]);
}

/** Merges needs and notifications with one cause: kinds by their names, ended entries by their number. */
function mergeAlike(all: readonly Content[]): readonly Content[] {
  return [...Map.groupBy(all, mergeKey)].flatMap(([cause, alike]) => {
    const [first] = alike;
    if (first === undefined || alike.length === 1) return alike;
    if (cause !== ENTRIES && first.data.kind === undefined) return [first];
    if (cause !== ENTRIES)
      return [{ ...first, data: { ...first.data, kinds: alike.map((content) => content.data.kind) } }];
    const entries = alike.reduce((sum, content) => sum + (content.data.entries ?? 1), 0);
    return [{ type: ENTRIES, data: { entries, reason: first.type.replace('entry.', '') } }];
  });
}

/** The type of several ended entries. */
const ENTRIES = 'entries';

const countParts = ({ data: { entries: n = 0, reason: state = '' } }: Content, translator: Translator) => ({
  headline: translator.t(ENDED, { n, state }),
  page: `/outbox?state=${state}`,
  command: 'bms-sync outbox',
});

const ENDED: MessageKey =
  '{state, select, parked {{n, plural, one {# entry is parked} other {# entries are parked}}} other {{n, plural, one {# entry is rejected} other {# entries are rejected}}}}';

/** Types whose letters explain the cure: no button of their page does it. */
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

function alertParts(facts: AlertFacts, changes: readonly RecordedChange[], translator: Translator) {
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
  const others = more > 0 ? [translator.t(MORE, { more })] : [];
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
  readonly needs: readonly Content[];
  readonly changes: readonly Readonly<Record<string, string | number>>[];
}

function digestParts(facts: DigestFacts, translator: Translator): NotificationParts {
  const { needs, changes } = facts;
  const { t } = translator;
  const titles = mergeAlike(needs).map((need) => {
    if (need.type === ENTRIES) return countParts(need, translator).headline;
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
