import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Server } from '../server.ts';

const OWN = fileURLToPath(new URL('../assets/', import.meta.url));
const UPLOT = dirname(createRequire(import.meta.url).resolve('uplot'));

/** The files of the pages: ours, and the library that draws the plots. */
const ASSETS = [
  { name: 'dashboard.css', path: join(OWN, 'dashboard.css'), type: 'text/css; charset=utf-8' },
  { name: 'dashboard.js', path: join(OWN, 'dashboard.js'), type: 'text/javascript; charset=utf-8' },
  { name: 'icon.svg', path: join(OWN, 'icon.svg'), type: 'image/svg+xml' },
  { name: 'uplot.css', path: join(UPLOT, 'uPlot.min.css'), type: 'text/css; charset=utf-8' },
  { name: 'uplot.js', path: join(UPLOT, 'uPlot.iife.min.js'), type: 'text/javascript; charset=utf-8' },
];

/** Serves the style sheet, the script and the picture of the pages, read from their files once. */
export function assetRoutes(app: Server): void {
  for (const { name, path, type } of ASSETS) {
    let content: Buffer | null = null;
    const described = { description: 'The file', content: { [type]: { schema: { type: 'string' } } } };
    app.get(
      `/assets/${name}`,
      { schema: { summary: `Give the pages their ${name}`, tags: ['Pages'], response: { 200: described } } },
      (_request, reply) => reply.type(type).send((content ??= readFileSync(path))),
    );
  }
}
