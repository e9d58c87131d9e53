import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** All that axe finds on the page, of any weight, and what it could not decide, with some of the elements. */
export async function axeFindings(page: Page): Promise<readonly unknown[]> {
  await page.evaluate(AXE);
  const { violations, incomplete } = await page.evaluate<AxeResults>('axe.run()');
  return [...violations, ...incomplete].map(({ id, impact, nodes }) => [
    id,
    impact,
    nodes.slice(0, 3).map(({ html, any }) => [html, ...any.map(({ message }) => message)]),
  ]);
}
