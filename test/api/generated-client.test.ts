import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { kindNamed, tempMirror } from '../store/temp-mirror.ts';
import { serveMirror } from '../http/stage.ts';

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Operation {
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The least that a schema requires. */
function sampleOf(api: Description, schema: Schema): unknown {
  const { $ref, type } = schema;
  if ($ref !== undefined) return sampleOf(api, api.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return sampleOf(api, schema.anyOf[0]);
  const { properties = {}, required = [], items, minimum = 1 } = schema;
  const members = Object.entries(properties).filter(([name]) => required.includes(name));
  const samples = {
    object: () => Object.fromEntries(members.map(([name, member]) => [name, sampleOf(api, member)])),
    array: () => (items === undefined ? [] : [sampleOf(api, items)]),
    string: () => 'x',
    boolean: () => true,
  };
  const first = typeof type === 'object' ? type[0] : type;
  const made = Object.entries(samples).flatMap(([name, make]) => (name === first ? [make()] : []));
  return [...made, minimum][0];
}

/** A program that calls every operation with what it requires, and reads the answers and the refusals. */
function programOf(api: Description): string {
  const calls = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const params: Record<string, Record<string, unknown>> = {};
      for (const { in: place, name, required, schema } of parameters)
        if (required === true) (params[place] ??= {})[name] = sampleOf(api, schema);
      const [content] = Object.values(requestBody?.content ?? {});
      const init = { params, ...(content && { body: sampleOf(api, content.schema) }) };
      return `read(await client.${method.toUpperCase()}('${path}', ${JSON.stringify(init)}));`;
    }),
  );
  return `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './client';

    type Read<T> = unknown extends T ? never : T extends Record<string, never> ? never : T;
    function read<T>(answer: { data?: Read<T>; error?: { code: string; detail: string } }): NonNullable<T> {
      if (answer.data === undefined) throw new Error(answer.error?.detail);
      return answer.data as NonNullable<T>;
    }
    const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:8080' });
    ${calls.join('\n')}
    const data: components['schemas']['clients_data'] = { code: 'C-1', nom: 'Ada Roy' };
    const pushed = read(await client.POST('/v1/outbox', {
      params: { header: { 'idempotency-key': 'order-1', prefer: 'wait=20' } },
      body: { operation: 'create', kind: 'clients', data },
    }));
    const { changes } = read(await client.GET('/v1/changes', { params: { query: { kind: 'clients', after: 0 } } }));
    export const outcome: [string | null, string | null | undefined] = [pushed.recordId, changes[0]?.key];`;
}

/** What the compiler finds wrong in these files. */
function compile(files: Readonly<Record<string, string>>): readonly string[] {
  const cache = join(import.meta.dirname, '../../node_modules/.cache'); // Where the library is found.
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'client-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const roots = Object.keys(files).map((name) => join(folder, name));
  const program = ts.createProgram(roots, {
    strict: true,
    skipLibCheck: true, // The declarations of libraries are not ours, and take longest.
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}

/** What the generator writes for headers and for what the description does not have, and a list within a list of any JSON. */
const UNTYPED = [
  '[name: string]: unknown;',
  'export type webhooks = Record<string, never>;',
  'export type $defs = Record<string, never>;',
  '} | (string | number | boolean | null) | unknown[])[];',
];

test('a client generated from the description compiles, and knows what it sends and reads in every operation', async () => {
  const { get } = await serveMirror(await tempMirror([kindNamed('clients')]), { kinds: KINDS });
  const text = await (await get('/openapi.json')).text();
  const client = astToString(await openapiTS(text));
  expect(compile({ 'client.ts': client, 'program.ts': programOf(JSON.parse(text) as Description) })).toEqual(
    [],
  );
  const untyped = client
    .split('\n')
    .filter((line) => /\bunknown\b(?!\?)|Record<string, never>/.test(line.replace(/\/\*.*\*\//, '')))
    .map((line) => line.trim());
  expect(untyped.filter((line) => !UNTYPED.includes(line))).toEqual([]);
});
