import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type * as z from 'zod';
import type { Kind } from '../catalog/kind.ts';
import type { SendingRules } from '../events/webhooks/sender.ts';
import type { Schedule } from '../runs/schedule.ts';
import type { Language, Translator } from '../lib/text/translator.ts';
import type { MirrorContext } from '../db/mirror-context.ts';
import type { WriteHealth } from '../db/session/write-watch.ts';
import type { CounterReader } from '../outbound/freeze.ts';
import type { NeedReader } from '../needs/read-needs.ts';
import type { UserRole } from '../store/users/user-store.ts';
import type { Html } from './html.ts';
import type { Access, RequestUser, SignInSettings } from './access.ts';
import type { Shares } from './limits.ts';
import type { UploadLimit } from './upload-limit.ts';

/** The process that the server is a part of. */
export interface ServingProcess extends MirrorContext {
  /** Returns whether this process's writes land in the mirror. */
  readonly writes: () => WriteHealth;
  /** `resume` raises the database's own count to this counter. */
  readonly sendCounter: CounterReader;
  /** Wakes the engine: rows became due. */
  readonly wakeEngine: () => void;
  /** The queue's own metrics; absent if there is no queue. */
  readonly queueMetrics?: (() => Promise<string>) | undefined;
  /** Why the last line of the log could not be written; null if it was written. */
  readonly logFault?: (() => string | null) | undefined;
}

/** The settings of the server and of what it shows. */
export interface ServerSettings extends SignInSettings {
  /** The setting `server.host`: the address that the caller listens on. */
  readonly host: string;
  /** The setting `server.names`: further host names of the server. */
  readonly names: readonly string[];
  readonly kinds: readonly Kind[];
  readonly schedules: readonly Schedule[];
  /** The setting `schedules.timezone`, in which pages show times. */
  readonly timezone: string;
  /** The setting `language`, for browsers that name no supported language. */
  readonly language: Language;
  /** The settings of deliveries. */
  readonly webhooks: SendingRules;
  /** The settings `database.url` and `bi.readerRole`. */
  readonly database: { readonly url: string; readonly readerRole: string | null };
  /** The setting `plans`. */
  readonly plans: { readonly approvals: number };
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
export interface RouteContext extends ServingProcess, ServerSettings {
  readonly needsOfFeatures: NeedReader;
  readonly version: string;
  readonly access: Access;
  /** Fires when the server closes: streams end. */
  readonly closing: AbortSignal;
  readonly streamLimit: Shares;
  /** Of pushes that wait for their outcome. */
  readonly waitLimit: Shares;
  readonly uploadLimit: UploadLimit;
}

/** What was typed in a form, by the names of its fields. */
export type Typed = Readonly<Record<string, string>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no authentication. */
    open?: true;
    /** A load balancer asks it, under any host name: who is asked by another name than ours reads no token or cookie. */
    isProbe?: true;
    /** It is for people: callers without authentication get the sign-in form, and errors are pages. */
    signsIn?: true;
    /** It changes nothing, even by POST. */
    isRead?: true;
    /** Its form as it was sent, which stands below the reason of a refusal. */
    formOf?: (translator: Translator, typed: Typed) => Html;
    /** Who may ask; without it, a viewer may read, and only an admin change. */
    role?: UserRole;
  }
  interface FastifyRequest {
    /** The authenticated caller; null on open routes. */
    user: RequestUser | null;
    /** The language of the answer. */
    language: Language;
    /** The entry of the outbox that the request has stored or changed; null if none. */
    entryId: number | null;
  }
}
