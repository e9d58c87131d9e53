import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

/** A letter that a server took, and for whom. */
export interface TakenLetter extends Email {
  readonly recipients: readonly string[];
}

export interface MailServer {
  /** Its URL, with the name and the password that it asks for. */
  readonly url: string;
  readonly letters: TakenLetter[];
  /** The passwords that it was given. */
  readonly passwords: string[];
  /** The answer to letters from now on; null takes them. */
  readonly refuseWith: (refusal: { readonly code: number; readonly text: string } | null) => void;
}

/**
 * Starts a server of e-mail on this machine that takes letters. It lets `garage` in by the password; without one, everybody, by TLS with a
 * certificate of its own, as Postfix does.
 */
export async function startMailServer(password: string | null): Promise<MailServer> {
  const letters: TakenLetter[] = [];
  const passwords: string[] = [];
  let refusal: { readonly code: number; readonly text: string } | null = null;
  const server = new SMTPServer({
    disabledCommands: password === null ? ['AUTH'] : ['STARTTLS'],
    onAuth: (login, _session, done) => {
      passwords.push(login.password ?? '');
      if (login.username === 'garage' && login.password === password) done(null, { user: 'garage' });
      else done(Object.assign(new Error('Who are you?'), { responseCode: 535 }));
    },
    onData: (stream, session, done) => {
      void buffer(stream).then(async (bytes) => {
        if (refusal !== null) {
          done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
          return;
        }
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        letters.push({ ...(await PostalMime.parse(bytes)), recipients });
        done();
      });
    },
  });
  server.on('error', () => undefined); // A client that was cut off.
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  );
  const { port } = listening.address() as AddressInfo;
  return {
    url: `smtp://${password === null ? '' : `garage:${encodeURIComponent(password)}@`}127.0.0.1:${port}`,
    letters,
    passwords,
    refuseWith: (answer) => {
      refusal = answer;
    },
  };
}
