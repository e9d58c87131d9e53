import { MESSAGES } from '../../../src/feature-hooks.ts';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { addNotification } from '../../../src/store/notifications/notifications.ts';
import { freeze } from '../../../src/store/outbox/freeze-store.ts';
import { dropBlock, saveBlock } from '../../../src/store/outbox/outbox-queue.ts';
import { canary } from '../../support/canary.ts';
import { listening } from '../../support/listening.ts';
import { opened, update } from '../../outbound/stage.ts';
import { ONE_DATABASE } from '../../events/support.ts';
import { startMailServer, type MailServer } from './mail-server.ts';
import { deliveryStage, deliveryStageOn, SENDING, type DeliveryStage } from '../../events/webhooks/stage.ts';

const rulesFor = ({ url }: MailServer) => ({
  ...SENDING,
  mail: { url, from: 'bms-sync <bms@garage.example>' },
  messages: MESSAGES,
  publicUrl: 'https://bms.garage.example',
});

const ANNA = { name: 'anna', url: 'mailto:anna@garage.example', format: 'email' } as const;

/** Writes of these kinds are refused. */
async function notify(on: DeliveryStage, ...kinds: readonly string[]): Promise<void> {
  const now = on.now();
  await on.session.atomically(async (tx) => {
    for (const kind of kinds) {
      await saveBlock(tx, { kind, reason: 'status 403', now, probeAt: now });
      const facts = { reason: 'status 403', entryId: null, recordId: null };
      await addNotification(tx, { type: 'kind.blocked', kind, facts, now });
    }
  });
}

describe.each(ONE_DATABASE)('on %s', (database) => {
  test('the first news is told at once, and what follows within ten minutes in one letter', async () => {
    const server = await startMailServer(canary('smtp-password'));
    const on = await deliveryStage(database, { rules: rulesFor(server) });
    await on.add(ANNA);
    await notify(on, 'clients');
    await on.deliver();
    await notify(on, 'products', 'bookings');
    await on.deliver();
    on.pass(599_000);
    await on.deliver();
    expect(server.letters).toHaveLength(1);
    on.pass(1_000);
    await on.deliver();
    const [first, second] = server.letters;
    expect(first).toMatchObject({
      recipients: ['anna@garage.example'],
      from: { address: 'bms@garage.example', name: 'bms-sync' },
      subject: 'Writes of clients are refused',
      text: [
        'Writes of clients are refused',
        'The user of this token lacks the right in the service (status 403).',
        'Grant that user the right in the service, or use another token. bms-sync retries every few minutes.',
        'https://bms.garage.example/\n',
      ].join('\n'),
    });
    expect(second?.subject).toBe('Writes of products, bookings are refused');
    expect(first?.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    expect(await on.deliveries()).toMatchObject(
      [1, 2, 3].map(() => ({ state: 'delivered', status: 250, attempts: 1 })),
    );
  });
});

describe.each(ONE_DATABASE)('on %s, a letter', (database) => {
  test('says each cause once, the most urgent first and alone in the subject', async () => {
    const server = await startMailServer(canary('smtp-password'));
    const on = await deliveryStage(database, { rules: rulesFor(server) });
    await on.add(ANNA);
    await notify(on, 'clients', 'products', 'bookings');
    await on.session.atomically(async (tx) => {
      await freeze(tx, 'a backup was restored', on.now());
      const facts = { reason: 'a backup was restored' };
      await addNotification(tx, { type: 'outbox.frozen', facts, now: on.now() });
    });
    await on.deliver();
    expect(server.letters).toMatchObject([{ subject: 'Sends are paused' }]);
    expect(server.letters[0]?.text?.split('\n\n').map((text) => text.split('\n')[0])).toEqual([
      'Sends are paused',
      'Writes of clients, products, bookings are refused',
    ]);
    expect((await on.deliveries()).map(({ state }) => state)).toEqual(Array(4).fill('delivered'));
  });

  test('leaves out what is settled, and is not written where nothing else is left', async () => {
    const server = await startMailServer(canary('smtp-password'));
    const on = await deliveryStage(database, { rules: rulesFor(server) });
    await on.add(ANNA);
    await notify(on, 'clients', 'products');
    await on.session.atomically((tx) => dropBlock(tx, 'clients', on.now()));
    await on.deliver();
    expect(server.letters.map(({ subject }) => subject)).toEqual(['Writes of products are refused']);
    on.pass(600_000);
    await notify(on, 'clients');
    await on.session.atomically((tx) => dropBlock(tx, 'clients', on.now()));
    await on.deliver();
    expect(server.letters).toHaveLength(1);
    expect((await on.deliveries()).map(({ state }) => state)).toEqual(['dropped', 'delivered', 'dropped']);
  });

  test('does not wait for ten minutes where it is urgent, unless there was one of its type', async () => {
    const server = await startMailServer(canary('smtp-password'));
    const on = await deliveryStage(database, { rules: rulesFor(server) });
    await on.add(ANNA);
    await notify(on, 'clients');
    await on.deliver();
    const pause = (reason: string): Promise<void> =>
      on.session.atomically(async (tx) => {
        await freeze(tx, reason, on.now());
        await addNotification(tx, { type: 'outbox.frozen', facts: { reason }, now: on.now() });
      });
    on.pass(1_000);
    await pause('a backup was restored');
    await on.deliver();
    expect(server.letters.map(({ subject }) => subject)).toEqual([
      'Writes of clients are refused',
      'Sends are paused',
    ]);
    on.pass(1_000);
    await pause('another one');
    await on.deliver();
    expect(server.letters).toHaveLength(2);
    on.pass(600_000);
    await on.deliver();
    expect(server.letters).toHaveLength(3);
  });
});

// cspell:disable -- French.
test('a person reads in their own language, and with the name of the record', async () => {
  const server = await startMailServer(canary('smtp-password'));
  const on = await opened({ service: { size: 20 } });
  const hooks = deliveryStageOn(on.session, {
    rules: rulesFor(server),
    at: new Date(on.clock.now().getTime() + 60_000),
  });
  await hooks.add({ ...ANNA, language: 'fr' });
  await on.store(update('999999', { name: 'Zoé' }));
  await on.work();
  await on.pass(900);
  hooks.pass(900_000);
  await hooks.deliver();
  expect(server.letters).toMatchObject([
    {
      subject: 'À vérifier\u00a0: modification (client 999999), envoi 1',
      text: expect.stringContaining('(Zoé)\nhttps://bms.garage.example/outbox/1') as string,
    },
  ]);
});

test('an alert tells its values with all their digits, as they are when it is sent; the digest is a letter of its own', async () => {
  const server = await startMailServer(canary('smtp-password'));
  const [database] = ONE_DATABASE;
  const on = await deliveryStage(database ?? 'SQLite', { rules: rulesFor(server) });
  await on.add({ ...ANNA, language: 'fr' });
  const before = JSON.stringify({ id: 7, code: 'C-7', nom: 'Garage Nord', credit: '4999.9900' });
  const after = before.replace('4999.9900', '5000.0100');
  await on.put({ record_id: '7', before, after, fields: '{"credit":["4999.9900","5000.0100"]}' });
  await on.session.atomically(async (tx) => {
    const facts = {
      needs: [{ type: 'kind.held', data: { kind: 'products', records: 9 } }],
      changes: [{ kind: 'clients', created: 1200, updated: 1, deleted: 0 }],
    };
    await addNotification(tx, { type: 'digest.daily', facts, now: on.now() });
    const matched = { field: 'credit', is: 'above', limit: '5000', changes: 1, seqs: [1] };
    await addNotification(tx, { type: 'alert.matched', kind: 'clients', facts: matched, now: on.now() });
  });
  await on.deliver();
  on.pass(600_000);
  await on.deliver();
  expect(
    server.letters.map(({ subject, text }) =>
      `${subject ?? ''}\n${text ?? ''}`.trimEnd().replaceAll('\u00a0', ' '),
    ),
  ).toEqual([
    [
      'Crédit (clients) dépasse 5000 : une fiche',
      'Crédit (clients) dépasse 5000 : une fiche',
      'client 7 (C-7 · Garage Nord) : 4 999,9900 → 5 000,0100',
      'https://bms.garage.example/records/clients/7',
    ].join('\n'),
    [
      'Une décision vous attend',
      'Une décision vous attend',
      '– 9 suppressions de produits sont retenues',
      'Changements depuis le dernier résumé :',
      'clients : 1 200 nouvelles, 1 modifiée, 0 supprimée',
      'https://bms.garage.example/',
    ].join('\n'),
  ]);
});

// cspell:enable
test('a letter that the server refuses is sent again, and the refusal is shown', async () => {
  const password = canary('smtp-password');
  const server = await startMailServer(password);
  const on = await deliveryStage('SQLite', { rules: rulesFor(server) });
  await on.add(ANNA);
  server.refuseWith({ code: 451, text: `Come back later, ${password}` });
  await notify(on, 'clients');
  await on.deliver();
  expect(await on.deliveries()).toMatchObject([
    {
      state: 'ready',
      status: 451,
      error: null,
      response_start: expect.stringContaining('Come back later, [redacted]') as string,
    },
  ]);
  server.refuseWith(null);
  on.pass(5_000);
  await on.deliver();
  expect(server.letters).toHaveLength(1);
});

test.each([
  ['nobody listens', 'smtp://127.0.0.1:1', 'ECONNREFUSED'],
  ['no server is set', null, 'mail.unset'],
])('where %s, the delivery waits and says so', async (_, url, error) => {
  const on = await deliveryStage('SQLite', {
    rules: { ...SENDING, mail: { url, from: 'bms@garage.example' } },
  });
  await on.add(ANNA);
  await notify(on, 'clients');
  await on.deliver();
  expect(await on.deliveries()).toMatchObject([{ state: 'ready', status: null, error }]);
});

describe.each(ONE_DATABASE)('on %s, an answer to a letter that', (database) => {
  test.each([
    ['has a null character', '550 No\0body\r\n', 550],
    ['has no number', 'Go away\r\n', null],
    ['has a number that is no status', '999 What\r\n', null],
    ['is as long as a book', `550 ${'x'.repeat(20_000)}\r\n`, 550],
    ['ends the connection', '', null],
  ])('%s is an outcome like others', async (_, answer, status) => {
    await using server = await listening(
      createServer((socket) => {
        socket.on('error', () => undefined);
        socket.write('220 here\r\n');
        socket.on('data', (sent) => {
          if (/^EHLO/i.test(sent.toString())) socket.write('250 here\r\n');
          else if (answer === '') socket.destroy();
          else socket.end(answer);
        });
      }),
    );
    const mail = { url: `smtp://127.0.0.1:${server.port}`, from: 'bms@garage.example' };
    const on = await deliveryStage(database, { rules: { ...SENDING, mail } });
    await on.add(ANNA);
    await notify(on, 'clients');
    await on.deliver();
    expect(await on.deliveries()).toMatchObject([{ state: 'ready', attempts: 1, status }]);
  });
});

test('a server on this machine may have a certificate of its own', async () => {
  const server = await startMailServer(null);
  const on = await deliveryStage('SQLite', { rules: rulesFor(server) });
  await on.add(ANNA);
  await notify(on, 'clients');
  await on.deliver();
  expect(server.letters).toHaveLength(1);
});

test('a password is not sent to a server elsewhere that offers no TLS', async () => {
  const password = canary('smtp-password');
  const server = await startMailServer(password);
  // Leads to this machine, but does not show it.
  const url = server.url.replace('127.0.0.1', '0.0.0.0');
  const on = await deliveryStage('SQLite', { rules: { ...SENDING, mail: { url, from: null } } });
  await on.add(ANNA);
  await notify(on, 'clients');
  await on.deliver();
  expect(server.letters).toEqual([]);
  expect(server.passwords).toEqual([]);
  expect(await on.deliveries()).toMatchObject([{ state: 'ready', attempts: 1 }]);
});

test.each([
  'anna@garage.example',
  'mailto:',
  'mailto:a@b.c,d@e.f',
  'mailto:a@b.c?bcc=d@e.f',
  'https://garage.example',
  'mailto:a%0a@b.c',
  'mailto://a@b.c',
])('%s is no address of a person', async (url) => {
  const on = await deliveryStage('SQLite');
  await expect(on.add({ ...ANNA, url })).rejects.toMatchObject({ code: 'webhooks.refused' });
});
