import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Endpoint, Kind } from '../catalog/kind.ts';
import type { Answer } from './answer.ts';
import { sendAnswer } from './send-answer.ts';
import { SERVED_KINDS } from './served-kinds.ts';
import type { ServiceOperation, ServiceRequest } from './service.ts';

const METHODS = { list: 'GET', retrieve: 'GET', create: 'POST', update: 'PUT' } as const;
const OPERATIONS: readonly ServiceOperation[] = ['list', 'retrieve', 'create', 'update'];

/** Opens every endpoint of the documentation (§4) and beyond; a misprinted path belongs to the kind that it addresses. */
export function openRoutes(app: FastifyInstance, answer: (request: ServiceRequest) => Promise<Answer>): void {
  for (const kind of SERVED_KINDS) {
    for (const operation of OPERATIONS) {
      const endpoint = endpointOf(kind, operation);
      if (!endpoint) continue;
      app.route({
        method: METHODS[operation],
        url: endpoint.path,
        handler: async (request, reply) =>
          sendAnswer(reply, await answer(serviceRequest(request, kind, operation))),
      });
    }
  }
}

function endpointOf(kind: Kind, operation: ServiceOperation): Endpoint | null {
  return operation === 'retrieve' && kind.retrieve?.misprint !== undefined ? null : kind[operation];
}

function serviceRequest(request: FastifyRequest, kind: Kind, operation: ServiceOperation): ServiceRequest {
  const { id = '' } = request.params as { id?: string };
  const query = new URLSearchParams(request.url.split('?', 2)[1]);
  return {
    ...{ kind, operation, id },
    method: request.method,
    page: positive(query.get('page')) ?? 1,
    perPage: positive(query.get('per_page')),
    perPageAtMost: Infinity,
    body: typeof request.body === 'string' ? request.body : '',
  };
}

function positive(text: string | null): number | null {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : null;
}
