import { kindLabel } from '../../catalog/descriptions.ts';
import { isListed } from '../../catalog/kind.ts';
import { nextSlots } from '../../runs/schedule.ts';
import { formatInstant, parseInstant } from '../../lib/time/clock.ts';
import { describeOutcome, outcomeLabel } from '../../words/outcome-texts.ts';
import { readFreshness, type KindFreshness } from '../../store/kinds/status-store.ts';
import { countMissing, readMissing } from '../../store/records/deletion-store.ts';
import { countSuppressed } from '../../store/records/erasure-store.ts';
import { readStale } from '../../checks/stale-kinds.ts';
import { nextPulls } from '../../checks/status.ts';
import { readRepeats } from '../../store/runs/repeats.ts';
import { badge, column, dataTable, panel } from './layout.ts';
import { sparkLine } from './drawings.ts';
import type { MessageKey, Translator } from '../../lib/text/translator.ts';
import { html, type Html } from '../../http/html.ts';
import type { Dashboard } from './page.ts';
import type { Reader } from './reader.ts';

/** A kind's line of the overview. */
export interface KindLine extends KindFreshness {
  /** When its rows and changes were counted, if a page before this one has counted them: counting takes long in a large mirror. */
  readonly countedAt: string | null;
  /** Null = not counted yet. */
  readonly rows: number | null;
  /** Those of them that single answers alone have shown. */
  readonly single: number;
  /** Change events an hour, the oldest first; null = not counted yet. */
  readonly hours: readonly number[] | null;
  /** Rows that have left the list, by the state of their deletion. */
  readonly missing: Readonly<Record<string, number>>;
  /** Records that `forget --suppress` keeps out. */
  readonly suppressed: number;
  /** The next slot of a schedule that reads it, UTC; null if it has none. */
  readonly nextAt: string | null;
  /** Three slots have passed since its list was read to its end. */
  readonly isStale: boolean;
}

/** Counts that are older than this have their time beside them. */
const UNNOTICED_MS = 5_000;

/** How fresh each kind with a list is, in the order of the catalogue. */
export async function readKindLines(dashboard: Dashboard, now: Date): Promise<readonly KindLine[]> {
  const { session, kinds, counts, schedules } = dashboard;
  const fresh = await readFreshness(session);
  const lines = new Map(fresh.map((line) => [line.kind, line]));
  const names = kinds.filter(isListed).map((kind) => kind.name);
  const listed = names.flatMap((name) => lines.get(name) ?? []);
  const repeats = await readRepeats(session);
  const missing = await readMissing(session);
  const suppressed = await countSuppressed(session);
  const [rows, hours, stale] = await Promise.all([
    counts.rows(listed.map((freshness) => freshness.kind)),
    counts.hours(now),
    readStale(session, schedules, { now, repeats }),
  ]);
  const earlier = [rows, hours]
    .flatMap((counts) => counts?.at ?? [])
    .filter((at) => now.getTime() - at.getTime() > UNNOTICED_MS);
  const [countedAt = null] = earlier.map(formatInstant).sort();
  const slots = nextPulls(nextSlots(schedules, now), names, repeats);
  return listed.map((line) => {
    const { kind } = line;
    return {
      ...line,
      countedAt,
      ...(rows?.value.get(kind) ?? { rows: null, single: 0 }),
      hours: hours === null ? null : (hours.value.get(kind) ?? []),
      missing: countMissing(missing, [kind]),
      suppressed: suppressed.get(kind) ?? 0,
      nextAt: slots.find((slot) => slot.kind === kind)?.at ?? null,
      isStale: stale.some((staleKind) => staleKind.kind === kind),
    };
  });
}

/** When the numbers of rows and changes were counted, if not now. */
export function countedWords(kinds: readonly KindLine[], { t, when }: Reader) {
  const [at = null] = kinds.map((kind) => kind.countedAt);
  return at && html`<span class="quiet small">${t('Counted {when}.', { when: when(at) })}</span>`;
}

export function kindsPanel(kinds: readonly KindLine[], reader: Reader): Html {
  const certified = kinds.filter((kind) => kind.state === 'certified').length;
  const { t, count } = reader;
  const note = t(
    certified === kinds.length
      ? 'All are certified: the mirror has exactly the rows of the service’s lists'
      : certified === 0
        ? 'None is certified now: the mirror may differ from the lists'
        : '{n, plural, one {# of {all} is} other {# of {all} are}} certified: the mirror has exactly the rows of their lists',
    { n: certified, all: kinds.length },
  );
  const table = dataTable(
    { caption: t('Record kinds: freshness and reliability'), rows: kinds },
    column(t('kind'), '', ({ kind }) => {
      return html`<a href="/records/${kind}" title="${kind}">${kindLabel(reader, kind)}</a>`;
    }),
    column(t('certificate'), 'parts', (line) => {
      const end = html`<a href="/kinds/${line.kind}">${stateBadge(reader, line)}</a>`;
      return html`${end} ${proofWords(line, reader)}`;
    }),
    column(t('last read'), 'named', (line) => lastReadWords(line, reader)),
    column(t('rows'), 'number named', ({ rows, single }) => {
      const unlisted = html`<p class="quiet small">${t(SINGLE, { n: single })}</p>`;
      return html`${rows === null ? '…' : count(rows)} ${single === 0 ? null : unlisted}`;
    }),
    {
      ...column(t('changes'), 'named', ({ hours }: KindLine) => changesCell(hours, reader)),
      heading: t('changes, last 48 h'),
    },
    column(t('open issues'), 'number named', ({ kind, openIssues: issues }) =>
      issues === 0 ? null : html`<a href="/issues?kind=${kind}">${count(issues)}</a>`,
    ),
  );
  const notes = html`${note} ${countedWords(kinds, reader)}`;
  return panel({ id: 'kinds', title: t('Record kinds'), note: notes, isLive: true }, table);
}

/** Null if there was none: most kinds of most days. */
function changesCell(hours: KindLine['hours'], reader: Reader): Html | null {
  const changes = hours?.reduce((sum, count) => sum + count, 0) ?? null;
  if (changes === 0) return null;
  return html`<div class="beside">
    ${hours === null ? null : sparkLine(reader, hours)}
    <span class="quiet small">${changes === null ? '…' : reader.count(changes)}</span>
  </div>`;
}

/** When the list of a kind was known exactly, and why it is not now. */
function proofWords(line: KindLine, reader: Reader): Html {
  const { t, when } = reader;
  const { certifiedAt: at } = line;
  const { why } = describeOutcome(line, reader);
  const proven = at && t('known exactly {when}', { when: when(at) });
  return html`${proven && html`<span class="quiet small nowrap wide">${proven}</span>`}
  ${why && html`<p class="quiet small brief">${why}</p>`}`;
}

/** Of the rows that no list has shown: with these, the rows of a list and its deletions add up to all. */
export const SINGLE: MessageKey = '{n, number} not in the list: shown by single answers alone';

export const stateBadge = (translator: Translator, end: Pick<KindLine, 'state' | 'reason'>): Html =>
  badge(translator, end.state, outcomeLabel(end, translator));

/** When a kind was read to its end, and when it is read next. */
export function lastReadWords({ lastSweepAt: at, nextAt }: KindLine, reader: Reader): Html {
  const { t, when } = reader;
  return html`${when(at) ?? t('never')}
    <span class="quiet small ${nextAt === null ? '' : 'nowrap wide'}">${dueWords(nextAt, reader)}</span>`;
}

/** When something is read next. @param nextAt Null: by no schedule. */
export function dueWords(nextAt: string | null, { t, when, now }: Reader): Html {
  if (nextAt === null) return html`${t('no schedule')}`;
  return html`${parseInstant(nextAt) <= now() ? t('due now') : t('next {when}', { when: when(nextAt) })}`;
}
