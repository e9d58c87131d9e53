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

/** The dependencies of the routes. */
export interface RouteContext extends ServerParts {
  readonly access: Access;
  /** Fires when the server closes: waiting requests end. */
  readonly closing: AbortSignal;
  /** Limits the requests that wait. */
  readonly seats: Seats;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route that was registered. */
    readonly routes: readonly RouteOptions[];
  }
  interface FastifyContextConfig {
    /** The route needs no authentication. */
    open?: true;
    /** The route accepts forms besides JSON. */
    takesForms?: true;
    /** Milliseconds in which the body must arrive. */
    bodyMs?: number;
    /** Callers without authentication get the sign-in form. */
    signsIn?: true;
    /** Set on the 405 route of a path: the methods that the path has, for `Allow`. */
    allow?: string;
  }
  interface FastifyRequest {
    /** The authenticated caller; null on open routes. */
    caller: Caller | null;
  }
  interface FastifySchema {
    hide?: boolean;
    /** Statuses of refusals beyond those that all such routes have. */
    refusals?: readonly number[];
    /** A JSON Schema that describes the body in more detail than `body` checks. */
    toldBody?: Readonly<Record<string, unknown>>;
    consumes?: readonly string[];
    operationId?: string;
    /** By status and name: operations that go on from the answer. */
    links?: Readonly<Record<string, Readonly<Record<string, object>>>>;
    summary?: string;
    description?: string;
    tags?: readonly string[];
    produces?: readonly string[];
    security?: readonly Readonly<Record<string, readonly string[]>>[];
  }
}
