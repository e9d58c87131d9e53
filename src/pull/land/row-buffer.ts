import { refuseExcluded } from '../../store/kinds/exclusions.ts';
import {
  readStoredRows,
  rewrittenRows,
  writeRows,
  type AnsweredRecords,
  type StoredRow,
} from '../../store/records/stored-rows.ts';
import type { Transaction } from '../../db/session/session.ts';
import { dropPagesAfter, savePages, type NewPage } from '../../store/sightings/page-store.ts';
import { NO_RUN, noteWrites, type Sweep, type SweepState } from '../run/sweep.ts';

/** A sweep within a landing's transaction. */
export interface LandingSweep extends Sweep {
  /** Ids of records that are kept out of the mirror; read in the transaction, because a person may add to them at any time. */
  readonly suppressed: ReadonlySet<string>;
  /** Ids that an outbox entry is changing, or has changed without an answer; every landing reads them again. */
  readonly sending: ReadonlySet<string>;
  /** Fields that the mirror keeps out by now and this process does not: with any, no row is written. */
  readonly excluded: readonly string[];
  /** Rows are written with their search texts. */
  readonly keepsSearch: boolean;
  /** Issues of fields were open when the transaction began. */
  readonly hasFieldIssues: boolean;
  /** The changes of the transaction to the state of the sweep. */
  readonly effects: SweepState;
  /** The instant of landing. */
  readonly now: Date;
  /** Lists show the records; else they were retrieved one by one. */
  readonly isListed: boolean;
  readonly rows: RowBuffer;
}

/**
 * The rows and pages that one transaction reads and writes. Those of several responses are read and written at once, so that
 * PostgreSQL is asked once where it would be asked for each page.
 */
type RowBuffer = ReturnType<typeof createRowBuffer>;

/** SQLite works on our thread, so it gets its rows in small portions; each statement for PostgreSQL waits for the network. */
const MAX_ROWS = { sqlite: 200, postgres: 800 };
const LONGEST_TEXT = { sqlite: 150_000, postgres: 600_000 };

export function createRowBuffer(tx: Transaction, sweep: Omit<LandingSweep, 'rows'>) {
  const { kind, effects } = sweep;
  let rows: ReadonlyMap<string, StoredRow> = new Map(); // As they were read; those in `current` are so still.
  const current = new Set<string>();
  const pending = createPendingRows(tx, sweep);
  const pages = new Map<number, NewPage | null>();
  const writePages = async (): Promise<void> => {
    await savePages(tx, kind.name, pages);
    pages.clear();
  };
  return {
    /** Reads the rows of these records at once: comparing them needs no further statement. */
    readAhead: async (ids: readonly string[]): Promise<void> => {
      rows = await readStoredRows(tx, kind, ids);
      for (const id of ids) current.add(id);
    },
    /** Reads rows as they are after all that was put. */
    read: async (ids: readonly string[]): Promise<ReadonlyMap<string, StoredRow>> => {
      if (pending.hasAny(ids)) await pending.write();
      if (!ids.every((id) => current.has(id))) return readStoredRows(tx, kind, ids);
      const wanted = new Map<string, StoredRow>();
      for (const id of ids) {
        const row = rows.get(id);
        if (row !== undefined) wanted.set(id, row);
      }
      return wanted;
    },
    /** The row of a record was written by a statement of its own. */
    forget: (id: string): void => {
      current.delete(id);
    },
    /** Writes records now or later in the transaction; they are read as written at once. */
    put: async (answer: AnsweredRecords): Promise<void> => {
      for (const { id } of answer.records) current.delete(id);
      const rewritten = new Map(rewrittenRows(answer));
      noteWrites(effects, rewritten);
      await pending.put(answer);
      if (rewritten.size === 0 || effects.newestSent <= answer.response) return;
      // Pages requested after this answer but landed before it may have shown newer records.
      await writePages();
      await dropPagesAfter(tx, kind.name, answer.response);
    },
    /** Stores the content of a page, or that it must be parsed again. */
    putPage: (page: number, content: NewPage | null): void => {
      pages.set(page, content);
    },
    /** Writes what was put. */
    flush: async (): Promise<void> => {
      await pending.write();
      await writePages();
    },
  };
}

/** Records whose rows are not written yet; full portions are written at once. */
function createPendingRows(tx: Transaction, sweep: Omit<LandingSweep, 'rows'>) {
  const { kind, runId, lease, ignoredFields, now, isListed, keepsSearch } = sweep;
  let { hasFieldIssues } = sweep;
  const ids = new Set<string>();
  let answers: AnsweredRecords[] = [];
  let text = 0;
  const write = async (): Promise<void> => {
    const portion = answers;
    answers = [];
    text = 0;
    ids.clear();
    if (portion.length === 0) return;
    refuseExcluded(kind, sweep.excluded);
    const { misfits } = await writeRows(tx, {
      kind,
      answers: portion,
      isListed,
      keepsSearch,
      hasFieldIssues,
      now,
      origin: 'service',
      standing: lease,
      ignoredFields,
      runId: runId === NO_RUN ? null : runId,
    });
    hasFieldIssues ||= misfits > 0;
  };
  return {
    hasAny: (wanted: readonly string[]): boolean => wanted.some((id) => ids.has(id)),
    put: async (answer: AnsweredRecords): Promise<void> => {
      answers.push(answer);
      for (const { id, raw, stored } of answer.records) {
        ids.add(id);
        text += raw.length + (stored?.raw.length ?? 0); // Events hold both.
      }
      if (ids.size >= MAX_ROWS[tx.dialect] || text >= LONGEST_TEXT[tx.dialect]) await write();
    },
    write,
  };
}
