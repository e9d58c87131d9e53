import { parseJson, type JsonObject } from '../../src/lib/json/json.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: JsonObject;
}

/** One real request to a sandbox, with its token unless other headers are given. */
export async function ask(sandbox: Sandbox, path: string, options: AskOptions = {}): Promise<Reply> {
  const response = await fetch(sandbox.url + path, {
    method: options.method ?? 'GET',
    headers: options.headers ?? { Authentication: `Bearer ${sandbox.token}` },
    redirect: 'manual',
    ...(options.body && { body: JSON.stringify(options.body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The JSON object that a request is answered with. */
export async function askJson(sandbox: Sandbox, path: string, options?: AskOptions): Promise<JsonObject> {
  return parseJson((await ask(sandbox, path, options)).text) as JsonObject;
}

export interface ListAnswer {
  readonly data: readonly JsonObject[];
  readonly meta?: Record<'current_page' | 'last_page' | 'per_page' | 'total', number>;
  readonly success?: boolean;
}

export async function askList(sandbox: Sandbox, path: string): Promise<ListAnswer> {
  return (await askJson(sandbox, path)) as unknown as ListAnswer;
}
