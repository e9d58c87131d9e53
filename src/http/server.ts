import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type * as z from 'zod';
import type { Kind } from '../catalog/kind.ts';
import type { SendingRules } from '../feed/webhooks/sender.ts';
import type { Schedule } from '../runs/schedule.ts';
import type { Logger } from '../lib/log/logger.ts';
import type { Language } from '../lib/text/speech.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Session } from '../db/session/session.ts';
import type { WriteStanding } from '../db/session/write-watch.ts';
import type { SendMark } from '../outbound/freeze.ts';
import type { UserRole } from '../store/people/user-store.ts';
import type { Access, Caller, TrustedHeader } from './access.ts';
import type { SignInCodes } from './credentials.ts';
import type { StreamLimit } from './limits.ts';

/** The dependencies of the HTTP server. */
export interface ServerParts {
  readonly session: Session;
  /** Tells whether this process's writes land in the mirror. */
  readonly writes: () => WriteStanding;
  readonly kinds: readonly Kind[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** `ADMIN_TOKEN`; null serves reads only, and only on loopback. */
  readonly token: string | null;
  /** The setting `server.trustedHeader`; absent or null: nobody is signed in by a proxy. */
  readonly trustedHeader?: TrustedHeader | null;
  /** The setting `server.host`: the address that the caller listens on. */
  readonly host: string;
  /** The setting `server.names`: further host names of the server. */
  readonly names: readonly string[];
  readonly port: number;
  readonly schedules: readonly Schedule[];
  /** The setting `schedules.timezone`, in which pages tell times; UTC without it. */
  readonly timezone?: string;
  /** The setting `language`, for browsers that name none of ours; English without it. */
  readonly language?: Language;
  readonly isDead: (owner: string) => boolean;
  readonly version: string;
  /** The mark that counts the sends; `resume` raises the database's own count to it. */
  readonly sendMark: { readonly read: SendMark['read'] };
  /** Codes that sign a browser in once. */
  readonly codes?: SignInCodes;
  /** Wakes the engine: rows became due. */
  readonly wakeEngine?: () => void;
  /** The settings of what is sent; absent: no host inside is allowed, and no e-mail is sent. */
  readonly webhooks?: SendingRules;
  /** The setting `plans`; absent: nobody need approve one. */
  readonly plans?: { readonly approvals: number };
  readonly queueMetrics?: () => Promise<string>;
  /** Why the last line of the log could not be written; null where it was. */
  readonly logFault?: () => string | null;
}

/** Types a route's request by the zod schemas that check it; routes write their answers themselves. */
interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  readonly serializer: unknown;
}

export type Server = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypes
>;

/** The dependencies of the routes. */
export interface RouteContext extends ServerParts {
  readonly wakeEngine: () => void;
  readonly webhooks: NonNullable<ServerParts['webhooks']>;
  readonly plans: NonNullable<ServerParts['plans']>;
  readonly access: Access;
  /** Fires when the server closes: streams end. */
  readonly closing: AbortSignal;
  readonly streamLimit: StreamLimit;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no authentication. */
    open?: true;
    /** It is for people: callers without authentication get the sign-in form, and errors are pages. */
    signsIn?: true;
    /** Who may ask; without it, a viewer may read, and only an admin change. */
    role?: UserRole;
  }
  interface FastifyRequest {
    /** The authenticated caller; null on open routes. */
    caller: Caller | null;
    /** That of the pages and messages which answer it. */
    language: Language;
    /** The entry of the outbox that the request has stored or changed; null if none. */
    entryId: number | null;
  }
}
