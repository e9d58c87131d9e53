import { expect, test } from 'vitest';
import { readKind } from '../../../src/report/verify/read-kind.ts';
import { clients } from '../../../src/catalog/kinds/clients.ts';
import { isListed } from '../../../src/catalog/kind.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { mirror, pullFrom, sandbox } from '../../pull/support.ts';
import { TOKEN, open } from '../../source/open-source.ts';

if (!isListed(clients)) throw new Error('clients have a list');
const kind = clients;

/** The same session, read-only. */
const readOnly = (session: Session): Session => ({
  ...session,
  atomically: () => Promise.reject(new Error('an audit waits for no writer, and lets none wait')),
});

test('reads outside of transactions, and every page once it is told of by the service', async () => {
  const service = await sandbox({ size: 230, token: TOKEN });
  const session = await mirror();
  await pullFrom(service, session);
  const { source } = open(service.url, { maxBodyBytes: 1e8 });
  const pages: number[] = [];

  const reading = await readKind(
    { session: readOnly(session), source, onProgress: (progress) => pages.push(progress.pages) },
    kind,
    (finding) => {
      throw new Error(`${finding.field} of ${finding.id}`);
    },
  );

  expect(reading).toMatchObject({ quarantined: 0, fault: null });
  expect(reading.compared.size).toBe(230);
  expect(pages.length).toBeGreaterThanOrEqual(4); // Three with records, and an empty one.
});
