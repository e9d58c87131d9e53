import { once } from 'node:events';
import { createMailTransport, toCause } from '../../lib/net/mail-transport.ts';
import { mailUnsetError, type Email, type Mailer, type MailRules } from '../../events/webhooks/messages.ts';
import { maskSecrets } from '../../lib/text/mask-secrets.ts';

/** The pause after a letter; notifications that come meanwhile share the next one. */
const PAUSE_MS = 600_000;

/** Creates a sender of letters by SMTP. */
export function createMailer(rules: MailRules, timeoutMs: number): Mailer {
  const { url, from } = rules;
  if (url === null) return { send: refuseUnsetMail };
  const { username, password } = new URL(url);
  const mask = maskSecrets([decodeURIComponent(password)]);
  const transport = createMailTransport(url, timeoutMs);
  return {
    /** Sends a letter; the status is that of SMTP, null where the answer has none. @throws {Error} Of Node or nodemailer, if the server did not answer. */
    send: async (email: Email, signal: AbortSignal) => {
      const sending = transport.sendMail({
        from: from ?? decodeURIComponent(username),
        to: email.endpoint.url.replace('mailto:', ''),
        subject: email.subject,
        text: email.body,
        messageId: `<${email.webhookId}@bms-sync>`,
        headers: { 'Auto-Submitted': 'auto-generated' }, // Notes of absence do not answer it.
      });
      const answer = sending.then(
        (info) => info.response,
        (error: unknown) => {
          if (error instanceof Error && 'response' in error) return String(error.response);
          throw toCause(error);
        },
      );
      const start = await Promise.race([answer, once(signal, 'abort').then(() => '')]);
      signal.throwIfAborted();
      const status = /^[2-5]\d\d/.test(start) ? Number(start.slice(0, 3)) : null;
      return { status, start: mask(start), pauseMs: status !== null && status < 300 ? PAUSE_MS : null };
    },
  };
}

const refuseUnsetMail = (): Promise<never> => Promise.reject(mailUnsetError('No e-mail is sent'));
