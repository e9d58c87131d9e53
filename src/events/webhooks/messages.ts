import type { Queryable, Transaction } from '../../db/session/session.ts';
import { UsageError } from '../../lib/sync-error.ts';
import type { Language } from '../../lib/text/translator.ts';
import type { WebhookEndpoint } from '../../store/notifications/endpoints.ts';
import type { Delivery } from './delivery-queue.ts';

/** How people read: in which language and time zone, and where their dashboard is. */
export interface ReaderRules {
  readonly language: Language;
  readonly timezone: string;
  /** The setting `server.publicUrl`: a notification links to a page. Null: it names a command. */
  readonly publicUrl: string | null;
}

/** The settings of e-mail. */
export interface MailRules {
  /** `smtp://user:password@host:587`, or `smtps://…`; null = none is sent. */
  readonly url: string | null;
  /** The address that letters come from; null = the user of the URL. */
  readonly from: string | null;
}

/** A body as an endpoint wants it. */
export interface FormattedBody {
  readonly contentType: string;
  readonly body: string;
  /** Of an e-mail. */
  readonly subject?: string;
}

/** One event for one endpoint, with the secrets to sign it by. */
export interface SendableDelivery extends FormattedBody {
  readonly endpoint: { readonly id: number; readonly url: string };
  readonly webhookId: string;
  readonly secrets: readonly string[];
}

export type Email = Pick<SendableDelivery, 'webhookId' | 'subject' | 'body'> & {
  readonly endpoint: { readonly url: string };
};

/** A request to send now: an event, a notification, or a letter with several notifications. */
export type EndpointSend = SendableDelivery & { readonly deliveries: readonly Delivery[] };

export interface ChoiceFacts {
  /** Ids of the deliveries that are being sent. */
  readonly inFlight: readonly number[];
  readonly reader: MessageRules;
  readonly now: Date;
}

/** `hasMore`: some were dropped, others may be ready. */
export interface ChosenSends {
  readonly sends: readonly EndpointSend[];
  readonly hasMore: boolean;
}

export interface Mailer {
  /** Sends a letter; the status is that of SMTP, null where the answer has none. @throws {Error} Of Node or nodemailer, if the server did not answer. */
  readonly send: (
    email: Email,
    signal: AbortSignal,
  ) => Promise<{ readonly status: number | null; readonly start: string; readonly pauseMs: number | null }>;
}

/** What makes messages for people of notifications, and sends letters. */
export interface MessageRules extends ReaderRules {
  readonly messages: {
    readonly writer: () => Promise<{
      readonly chooseMessages: (
        tx: Transaction,
        endpoint: WebhookEndpoint,
        due: readonly Delivery[],
        facts: ChoiceFacts,
      ) => Promise<ChosenSends>;
      readonly renderNotifications: (
        db: Queryable,
        causes: readonly (readonly Pick<Delivery, 'body'>[])[],
        endpoint: WebhookEndpoint,
        rules: ReaderRules,
      ) => Promise<FormattedBody>;
    }>;
    readonly mailer: () => Promise<{
      readonly createMailer: (rules: MailRules, timeoutMs: number) => Mailer;
    }>;
  } | null;
}

/** The error for e-mail without a mail server in the settings. */
export const mailUnsetError = (effect: string): UsageError =>
  new UsageError(`${effect}: mail.url is not set.`, {
    code: 'mail.unset',
    hint: 'Set SMTP_URL to smtp://USER:PASSWORD@HOST:587.',
  });
