import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawServerDefault,
  RouteOptions,
} from 'fastify';
import type { z } from 'zod';
import type { Access, Caller } from './access/access.ts';
import type { Seats } from './seats.ts';
import type { ServerParts } from './parts.ts';

/** Types a route's request by the zod schemas that check it. */
interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  readonly serializer: unknown;
}

/** The application, whose routes are typed by their zod schemas. */
export type Server = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypes
>;

/** What routes work with. */
export interface Context extends ServerParts {
  readonly access: Access;
  /** Fires when the server closes: nobody waits any longer. */
  readonly closing: AbortSignal;
  /** For requests that wait. */
  readonly seats: Seats;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route that was registered. */
    readonly routes: readonly RouteOptions[];
  }
  interface FastifyContextConfig {
    /** Anybody may call it. */
    open?: true;
    /** Takes forms, beside JSON. */
    takesForms?: true;
    /** Milliseconds in which the body must be there. */
    bodyMs?: number;
    /** Who is not let in gets the sign-in form. */
    signsIn?: true;
    /** Stands for a method that the path has not; `allow` has those that it has. */
    allow?: string;
  }
  interface FastifyRequest {
    /** Who was let in; null on open routes. */
    caller: Caller | null;
  }
  interface FastifySchema {
    hide?: boolean;
    /** Statuses by which it refuses, beyond those of all routes of its sort. */
    refusals?: readonly number[];
    /** A JSON Schema that says more of the body than `body` checks. */
    toldBody?: Readonly<Record<string, unknown>>;
    consumes?: readonly string[];
    summary?: string;
    description?: string;
    tags?: readonly string[];
    produces?: readonly string[];
    security?: readonly Readonly<Record<string, readonly string[]>>[];
  }
}
