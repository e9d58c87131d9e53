import type { IncomingMessage } from 'node:http';

export function pageOf(request: IncomingMessage): number {
  return Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? '1');
}

/** The answer of a well-behaved list of `total` records. */
export function listBody(page: number, perPage: number, total: number): object {
  const first = (page - 1) * perPage;
  const length = Math.max(0, Math.min(perPage, total - first));
  return {
    success: true,
    data: Array.from({ length }, (_, index) => ({ id: first + index + 1 })),
    meta: {
      current_page: page,
      last_page: Math.max(1, Math.ceil(total / perPage)),
      per_page: perPage,
      total,
    },
  };
}
