import { failedCheck, passedCheck, type CheckResult } from '../../lib/check-result.ts';
import { errorCode, isOurs } from '../../lib/sync-error.ts';

const TIMEOUT_MS = 5_000;

interface MailSettings {
  readonly mail: { readonly url: string | null };
}

/** Checks that the mail server greets us (EHLO) and lets us in; sends nothing. */
export async function checkMail({ mail: { url } }: MailSettings): Promise<readonly CheckResult[]> {
  if (url === null) return [];
  const { createMailTransport, toCause } = await import('../../lib/net/mail-transport.ts'); // Its library is large.
  const { host } = new URL(url);
  try {
    await createMailTransport(url, TIMEOUT_MS).verify();
    return [passedCheck('mail', `${host} answers EHLO, and lets us in`)];
  } catch (error) {
    if (isOurs(error)) throw error;
    const detail = `${host} does not answer EHLO, or does not let us in (${errorCode(toCause(error))})`;
    const hint = 'Check the host, the port, the user and the password in SMTP_URL.';
    return [failedCheck('mail', 'mail.refused', detail, hint)];
  }
}
