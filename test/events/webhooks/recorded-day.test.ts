import { MESSAGES } from '../../../src/feature-hooks.ts';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { addDigest } from '../../../src/features/notify/digest.ts';
import type { Transaction } from '../../../src/db/session/session.ts';
import { writeMeta } from '../../../src/store/kinds/meta.ts';
import { freeze } from '../../../src/store/outbox/freeze-store.ts';
import { dropBlock, saveBlock } from '../../../src/store/outbox/outbox-queue.ts';
import { findEntry } from '../../../src/store/outbox/outbox-store.ts';
import { saveAbsences } from '../../../src/store/records/deletion-store.ts';
import * as notifications from '../../../src/store/notifications/notifications.ts';
import { canary } from '../../support/canary.ts';
import { putRecords } from '../../store/temp-mirror.ts';
import { ONE_DATABASE } from '../support.ts';
import { startMailServer } from '../../features/notify/mail-server.ts';
import { startReceiver } from './receiver.ts';
import { deliveryStage, SENDING, type DeliveryStage } from './stage.ts';
import { insertEntry } from '../../store/outbox/entries.ts';

const TIMEZONE = 'America/Toronto';
const MORNING = new Date('2026-03-02T13:00:00Z'); // 08:00 there.
const MINUTE = 60_000;

const plain = (text = ''): string => text.replaceAll('\u00a0', ' ').trimEnd();

// cspell:disable -- French.
const SUBJECTS = {
  en: [
    '4 lists are stale: clients, products, time punches, bookings',
    'Entry 1 is parked: create of clients',
    '5 entries are parked (+ 2)',
    '14 deletions of products are held (+ 1)',
    'Writes of clients, products are refused',
    '2 entries are rejected (+ 2)',
    'Sends are paused',
    'Writes of categories are refused (+ 1)',
    '6 items need your attention',
  ],
  fr: [
    '4 listes sont en retard : clients, produits, pointages, réservations',
    'À vérifier : création (clients), envoi 1',
    '5 envois à vérifier (+ 2)',
    '14 suppressions de produits sont retenues (+ 1)',
    'Écritures refusées : clients, produits',
    '2 envois refusés (+ 2)',
    'Les envois sont suspendus',
    'Écritures refusées : catégories (+ 1)',
    '6 décisions vous attendent',
  ],
};

const DIGEST = {
  en: `6 items need your attention
– Sends are paused
– 14 deletions of products are held
– 1 deletion of providers is held
– Writes of categories, clients, products are refused
– 8 entries are parked
– 1 field changes with every sweep
Changed since the last digest:
clients: 0 new, 2 changed, 0 deleted
https://bms.garage.example/`,
  fr: `6 décisions vous attendent
– Les envois sont suspendus
– 14 suppressions de produits sont retenues
– 1 suppression de fournisseurs est retenue
– Écritures refusées : catégories, clients, produits
– 8 envois à vérifier
– 1 champ change à chaque lecture
Changements depuis le dernier résumé :
clients : 0 nouvelle, 2 modifiées, 0 supprimée
https://bms.garage.example/`,
};
// cspell:enable

/** What happens in a transaction. */
type Happening = (tx: Transaction, now: Date) => Promise<void>;

interface Day {
  readonly on: DeliveryStage;
  /** Notes something that happens now. */
  readonly note: (...happenings: readonly Happening[]) => Promise<void>;
  /** Lets minutes pass, and sends what is due at each of them. */
  readonly pass: (minutes: number) => Promise<void>;
}

const CLIENTS = ['Garage Tremblay', 'Pneus Lévis', 'Carrosserie Roy', 'Mécanique Gagnon', 'Auto Beauce'];

const entryEnds =
  (
    key: string,
    state: 'parked' | 'rejected',
    verdict: string,
    record: { readonly recordId: string | null; readonly payload: string },
  ): Happening =>
  async (tx, now) => {
    const entry = {
      key,
      kind: 'clients',
      operation: record.recordId === null ? 'create' : 'update',
    } as const;
    const id = await insertEntry(tx, { ...entry, ...record, base: null, naturalKey: null, now });
    await tx.query(sql`update outbox set state = ${state}, verdict = ${verdict} where id = ${id ?? 0}`);
    const stored = await findEntry(tx, id ?? 0);
    if (stored !== null)
      await notifications.addNotification(tx, notifications.entryNotification(state, stored, now));
  };

const parkedCreate = (n: number, verdict: string): Happening =>
  entryEnds(`create-${n}`, 'parked', verdict, {
    recordId: null,
    payload: JSON.stringify({ code: `N-${n}`, name: `${CLIENTS[n % CLIENTS.length] ?? ''} ${n}` }),
  });

const settled =
  (id: number): Happening =>
  async (tx) => {
    await tx.query(sql`update outbox set state = 'abandoned' where id = ${id}`);
  };

const held =
  (kind: string, records: number, why?: 'never_listed'): Happening =>
  async (tx, now) => {
    const ids = Array.from({ length: records }, (_, n) => String(n + 1));
    await putRecords(
      tx,
      kind,
      ids.map((id) => ({
        id,
        code: `P-${id}`,
        _raw: JSON.stringify({ id, code: `P-${id}`, name: `Pneu d’hiver ${id}` }),
      })),
    );
    const absence = {
      state: 'held',
      sweep: 1,
      absentSince: now,
      firstGoneAt: null,
      isCertified: true,
    } as const;
    const absences = ids.map((id) => ({ id, ...absence, lastSeenAt: null, ...(why && { why }) }));
    await saveAbsences(tx, kind, absences);
    const facts = { records, since: now.toISOString() };
    await notifications.addNotification(tx, { type: 'kind.held', kind, facts, now });
  };

const blocked =
  (kind: string): Happening =>
  async (tx, now) => {
    await saveBlock(tx, { kind, reason: 'status 403', now, probeAt: now });
    const facts = { reason: 'status 403', entryId: null, recordId: null };
    await notifications.addNotification(tx, { type: 'kind.blocked', kind, facts, now });
  };

const stale =
  (kind: string): Happening =>
  (tx, now) => {
    const since = new Date(now.getTime() - 50 * MINUTE).toISOString();
    return notifications.addNotification(tx, { type: 'kind.stale', kind, facts: { since }, key: since, now });
  };

const volatile: Happening = async (tx, now) => {
  const setting = 'diff: { ignoreFields: { clients: ["last_seen"] } }';
  await writeMeta(tx, 'volatile.clients', '{"sweeps":{"last_seen":2},"ignored":[]}');
  const facts = { fields: 'clients.last_seen', setting };
  await notifications.addNotification(tx, { type: 'field.volatile', kind: 'clients', facts, now });
};

const frozen: Happening = async (tx, now) => {
  const reason = '12 sends were made from here, and this database knows of 11';
  const unknown = ['create of clients C-4711 at 2026-03-02 19:58'];
  await freeze(tx, reason, now, unknown);
  await notifications.addNotification(tx, { type: 'outbox.frozen', facts: { reason, unknown }, now });
};

const refused: Happening = async (tx, now) => {
  const since = now.toISOString();
  await notifications.addNotification(tx, { type: 'token.refused', facts: { since }, now });
};

const alert =
  (seqs: readonly number[]): Happening =>
  (tx, now) => {
    const facts = { field: 'credit', is: 'above', limit: '5000', changes: seqs.length, seqs };
    return notifications.addNotification(tx, { type: 'alert.matched', kind: 'clients', facts, now });
  };

/** Some thirty events: many have one cause, and several are settled before a letter is written. */
async function live({ on, note, pass }: Day): Promise<void> {
  await on.put(
    ...['4999.9900', '120.0000'].map((credit, n) => {
      const before = JSON.stringify({ id: n + 7, code: `C-${n + 7}`, name: CLIENTS[n], credit });
      const after = before.replace(credit, '5000.0100');
      return {
        observed_at: '2026-03-02 12:00:00.000',
        record_id: String(n + 7),
        before,
        after,
        fields: `{"credit":["${credit}","5000.0100"]}`,
      };
    }),
  );
  await note(refused, ...['clients', 'products', 'punches', 'bookings'].map(stale)); // The token works again at once.
  await pass(60);
  await note(parkedCreate(0, 'no_certificate'));
  await pass(1);
  await note(...[1, 2, 3, 4, 5, 6, 7].map((n) => parkedCreate(n, 'no_certificate')));
  await note(entryEnds('u-1', 'parked', 'conflict', { recordId: '7', payload: '{"phone":"418 555-0100"}' }));
  await note(entryEnds('u-2', 'parked', 'gone', { recordId: '99', payload: '{"name":"Zoé"}' }));
  await note(settled(2), settled(3));
  await pass(60);
  await note(held('products', 14), held('providers', 1, 'never_listed'));
  await pass(30);
  await note(blocked('clients'), blocked('products'), blocked('projects'));
  await note((tx, now) => dropBlock(tx, 'projects', now));
  await pass(60);
  for (const n of [1, 2])
    await note(
      entryEnds(`r-${n}`, 'rejected', 'service_refused', {
        recordId: String(n + 6),
        payload: '{"email":"x"}',
      }),
    );
  await note(alert([1, 2]), volatile);
  await pass(60);
  await note(frozen, stale('bookings'), stale('punches'));
  await pass(60);
  await note(refused, blocked('categories'), alert([2]));
  await pass(30);
}

test.each(ONE_DATABASE)(
  'a recorded day on %s becomes a few letters that an owner can read',
  async (database) => {
    const server = await startMailServer(canary('smtp-password'));
    const rules = {
      ...SENDING,
      mail: { url: server.url, from: 'bms-sync <bms@garage.example>' },
      messages: MESSAGES,
      publicUrl: 'https://bms.garage.example',
      timezone: TIMEZONE,
    };
    const on = await deliveryStage(database, { rules, at: MORNING });
    await on.session.atomically((tx) =>
      putRecords(
        tx,
        'clients',
        [7, 8].map((id) => ({
          id: String(id),
          code: `C-${id}`,
          name: CLIENTS[id - 7] ?? '',
          _raw: JSON.stringify({ id, code: `C-${id}`, name: CLIENTS[id - 7] }),
        })),
      ),
    );
    const rooms = { en: await startReceiver(), fr: await startReceiver() };
    for (const language of ['en', 'fr'] as const) {
      await on.add({
        name: `mail-${language}`,
        url: `mailto:${language}@garage.example`,
        format: 'email',
        language,
      });
      await on.add({ name: `room-${language}`, url: rooms[language].url, format: 'text', language });
    }
    const day: Day = {
      on,
      note: async (...happenings) => {
        for (const one of happenings) await on.session.atomically((tx) => one(tx, on.now()));
      },
      pass: async (minutes) => {
        for (let minute = 0; minute < minutes; minute += 1) {
          await on.deliver();
          on.pass(MINUTE);
        }
      },
    };
    await live(day);
    on.pass(new Date('2026-03-03T12:00:00Z').getTime() - on.now().getTime());
    await addDigest(on.session, { at: '07:00', timezone: TIMEZONE }, on.now());
    await on.deliver();
    for (const language of ['en', 'fr'] as const) {
      const letters = server.letters.filter(({ recipients }) =>
        recipients.includes(`${language}@garage.example`),
      );
      expect(letters.map(({ subject }) => plain(subject))).toEqual(SUBJECTS[language]);
      expect(plain(letters.at(-1)?.text)).toBe(DIGEST[language]);
      for (const { text = '' } of letters) {
        const sentences = text.split('\n').filter((line) => line !== '' && !/^https:|2026/.test(line));
        expect(new Set(sentences).size).toBe(sentences.length); // Nothing is explained twice.
      }
      const all = [...letters.map(({ text }) => text), ...rooms[language].taken.map(({ body }) => body)].join(
        '\n',
      );
      for (const settledName of ['N-1 ', 'N-2 ']) expect(all).not.toContain(settledName);
      expect(all).toContain('N-7 · Carrosserie Roy 7');
      expect(rooms[language].taken.length).toBeLessThan(16);
    }
  },
);
